"use strict";
// Everything from records and replies goes into the page as text nodes, never as markup.

const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const FIELDS = ["agent", "status", "tier", "template", "strategy", "category", "scheme"];
const PAGE = 200;
const CODES = { correct: "✓", wrong: "✗", unparsed: "?", refused: "R", tool_attempted: "T", timeout: "…", agent_error: "E", harness_error: "H" };
let index, shownRows = [], limit = PAGE;
const chunks = new Map();

function el(tag, attributes = {}, ...children) {
  const svg = ["svg", "line", "path", "text", "rect", "g", "circle"].includes(tag);
  const node = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== undefined) node.setAttribute(name, value);
  for (const child of children.flat()) if (child !== null && child !== undefined) node.append(child);
  return node;
}

async function unpack(id) {
  const bytes = Uint8Array.from(atob($(id).textContent), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}

function chunkOf(row) {
  const place = Math.floor(row / index.chunk);
  if (!chunks.has(place)) chunks.set(place, unpack("chunk-" + place));
  return chunks.get(place);
}

const question = async (row) => (await chunkOf(row))[row % index.chunk];
const running = (deltas, scale) => { let at = 0; return deltas.map((delta) => (at += delta) / scale); };

// ---- routes: #report, #report/SECTION, #questions?FILTERS, #q/ID

async function route() {
  if (!index) return;
  const hash = location.hash.slice(1);
  const view = hash.startsWith("q/") ? "question" : hash.startsWith("questions") ? "questions" : "report";
  for (const name of ["report", "questions", "question"]) $("view-" + name).hidden = name !== view;
  for (const link of document.querySelectorAll("header a")) link.classList.toggle("on", (link.hash === "#report") === (view === "report"));
  if (view === "report") {
    const target = $(hash.split("/")[1] || "");
    if (target) target.scrollIntoView(); else if (hash) scrollTo(0, 0);
    return;
  }
  scrollTo(0, 0);
  if (view === "questions") return list();
  await show(hash.slice(2));
}

// ---- the list and its filters

const filters = () => new URLSearchParams(location.hash.includes("?") ? location.hash.slice(location.hash.indexOf("?") + 1) : "");

function makeFilters() {
  const choices = {
    agent: index.agents.map((name, place) => [String(place), name]),
    status: Object.entries(index.statuses),
    ...Object.fromEntries(index.kinds.map((kind) => [kind, index.names[kind].map((name, place) => [String(place), name || "(none)"])])),
  };
  for (const field of FIELDS) {
    if (choices[field].length < 2) continue;
    const select = el("select", { name: field }, el("option", { value: "" }, "all"));
    for (const [value, text] of choices[field]) select.append(el("option", { value }, text));
    $("filters").append(el("label", {}, field, select));
  }
  $("filters").append(el("label", { class: "search" }, "search question, options, replies, id", el("input", { type: "search", name: "text" })));
  const change = () => {
    const chosen = [...new FormData($("filters"))].filter(([, value]) => value.trim());
    history.replaceState(null, "", "#questions" + (chosen.length ? "?" + new URLSearchParams(chosen) : ""));
    limit = PAGE;
    list();
  };
  const legend = Object.entries(index.statuses).map(([name, text]) => el("span", {}, el("i", { class: name }, CODES[name]), " " + text));
  $("count").append("", el("span", { class: "marks legend" }, legend));
  let timer;
  $("filters").addEventListener("input", (event) => { clearTimeout(timer); timer = setTimeout(change, event.target.name === "text" ? 200 : 0); });
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("more").addEventListener("click", () => { limit += PAGE; list(); });
}

function matches(row, chosen) {
  const [, places, , byAgent] = row;
  if (!index.kinds.every((kind, at) => !chosen[kind] || String(places[at]) === chosen[kind])) return false;
  const mine = chosen.agent ? byAgent[chosen.agent] || [] : byAgent.flat();
  if (chosen.agent && !mine.length) return false;
  return !chosen.status || mine.includes(Object.keys(index.statuses).indexOf(chosen.status));
}

async function holds(place, text) {
  if (index.rows[place][0].startsWith(text)) return true;
  const found = await question(place);
  const parts = [found.id, found.stem, found.ask, ...Object.values(found.options || {}), ...found.attempts.map((one) => one.reply)];
  return parts.some((part) => part && part.toLowerCase().includes(text));
}

let turn = 0;
async function select(chosen) {
  const found = [];
  const text = (chosen.text || "").trim().toLowerCase();
  for (let place = 0; place < index.rows.length; place++) {
    if (matches(index.rows[place], chosen) && (!text || (await holds(place, text)))) found.push(place);
  }
  return found;
}

async function list() {
  const mine = ++turn;
  const chosen = Object.fromEntries(filters());
  for (const field of $("filters").elements) if (field.name && document.activeElement !== field) field.value = chosen[field.name] || "";
  const found = await select(chosen);
  if (mine !== turn) return; // a newer choice is being listed
  shownRows = found;
  $("count").firstChild.textContent = found.length === index.rows.length ? `${found.length} questions` : `${found.length} of ${index.rows.length} questions`;
  $("list").replaceChildren(...found.slice(0, limit).map(listed));
  $("more").hidden = found.length <= limit;
}

function listed(place) {
  const [id, places, key, byAgent, ask] = index.rows[place];
  const kinds = index.kinds.slice(0, 3).map((kind, at) => index.names[kind][places[at]]).filter(Boolean);
  const marks = byAgent.map((statuses, agent) => statuses.length
    ? el("span", { class: "c" + (agent % 8), title: index.agents[agent] }, statuses.map((status) => {
        const name = Object.keys(index.statuses)[status];
        return el("i", { class: name, title: `${index.agents[agent]}: ${index.statuses[name]}` }, CODES[name]);
      }))
    : null);
  return el("li", {}, el("a", { href: "#q/" + id },
    el("span", {}, ask), el("span", { class: "what" }, kinds.join(" · ")), el("span", { class: "marks" }, marks)));
}

// ---- one question

async function show(id) {
  const place = index.rows.findIndex((row) => row[0] === id || id.startsWith(row[0]));
  const page = $("view-question");
  if (place < 0) return page.replaceChildren(el("h1", {}, "No such question"), el("p", {}, el("a", { href: "#questions" }, "All questions")));
  const found = await question(place);
  const kinds = index.kinds.map((kind) => found[kind]).filter(Boolean).join(" · ");
  const chart = el("div", { class: "chart" });
  page.replaceChildren(steps(place),
    el("h1", {}, (found.ask || "").split("\n")[0].slice(0, 200)),
    el("p", { class: "dim" }, kinds, el("br"), el("small", {}, found.id, found.where ? " · " + found.where : "")),
    el("div", { class: "two" }, el("div", {}, text(found)), chart, el("div", {}, answers(found))));
  await fill(chart, found);
}

function steps(place) {
  const order = shownRows.includes(place) ? shownRows : index.rows.map((_, at) => at);
  const at = order.indexOf(place);
  const link = (to, text, rel) => (order[to] === undefined ? null : el("a", { href: "#q/" + index.rows[order[to]][0], rel }, text));
  const back = shownRows.length && shownRows.length < index.rows.length ? `${at + 1} of ${order.length} chosen` : `${at + 1} of ${order.length}`;
  return el("div", { class: "steps" }, el("a", { href: "#questions" + listAddress }, "All questions"),
    link(at - 1, "← previous", "prev"), link(at + 1, "next →", "next"), el("span", { class: "dim" }, back));
}

let listAddress = "";
addEventListener("hashchange", (event) => {
  const old = new URL(event.oldURL).hash;
  if (old.startsWith("#questions")) listAddress = old.slice("#questions".length);
  route();
});
addEventListener("keydown", (event) => {
  if ($("view-question").hidden || event.target.closest("input, select, pre") || event.altKey || event.ctrlKey || event.metaKey) return;
  const rel = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
  const link = rel && document.querySelector(`.steps a[rel=${rel}]`);
  if (link) location.hash = link.hash;
});

function text(found) {
  if (!found.options) return el("p", {}, found.ask);
  const options = Object.entries(found.options).map(([letter, option]) => {
    const origin = found.origins && found.origins[letter];
    const notes = [letter === found.key ? "the key" : null, origin && origin !== "key" ? origin : null, pickedBy(found, letter)];
    return el("li", { class: letter === found.key ? "key" : null }, el("b", {}, letter), el("span", {}, option), el("small", {}, notes.filter(Boolean).join("; ")));
  });
  const value = found.value === null || found.value === undefined ? null : el("p", { class: "dim" }, el("small", {}, "value: " + JSON.stringify(found.value)));
  return [el("div", { class: "stem" }, found.stem), el("ol", { class: "options" }, options), value];
}

function pickedBy(found, letter) {
  const counts = new Map();
  for (const one of found.attempts) if (one.letter === letter) counts.set(one.agent, (counts.get(one.agent) || 0) + 1);
  const names = [...counts].map(([agent, times]) => index.agents[agent] + (times > 1 ? ` × ${times}` : ""));
  return names.length ? "picked by " + names.join(", ") : null;
}

function answers(found) {
  return [el("h2", {}, "Answers"), ...found.attempts.map((one) => {
    const facts = [
      one.letter ? `option ${one.letter}` + (one.shift ? `, shown as ${one.shown}` : "") : null,
      one.method === "lenient" ? "read leniently" : null,
      one.given ? `value ${one.given}` + (one.valueRight === true ? ", right" : one.valueRight === false ? ", wrong" : "") : null,
      one.mistake ? "mistake: " + one.mistake : null,
      one.repeat ? `repeat ${one.repeat + 1}` : null,
      one.seconds.toFixed(1) + " s",
      one.in !== undefined || one.out !== undefined ? `${one.estimated ? "~" : ""}${one.in ?? "?"} in, ${one.out ?? "?"} out` : null,
      one.usd !== undefined ? "$" + one.usd.toFixed(4) : null,
      one.tries > 1 ? `asked ${one.tries} times` : null,
      one.tools ? "tools: " + one.tools.join(", ") : null,
      one.model,
    ].filter(Boolean).join(" · ");
    return el("article", {},
      el("div", { class: "line" }, el("b", { class: "agent c" + (one.agent % 8) }, index.agents[one.agent]),
        el("span", { class: "mark " + one.status }, index.statuses[one.status]),
        one.transcript ? el("a", { href: one.transcript }, "raw transcript") : null),
      el("div", { class: "dim" }, el("small", {}, facts, el("br"), one.run)),
      one.error ? el("pre", {}, one.error) : null,
      one.reply ? el("pre", { tabindex: "0" }, one.reply + (one.cut ? "\n[cut here; the transcript has all of it]" : "")) : null);
  })];
}

// ---- the chart of a backtest

const calendars = new Map();

async function fill(box, found) {
  if (found.chart === null || found.chart === undefined) {
    if (found.noChart) box.append(el("p", { class: "dim" }, "No chart: " + found.noChart));
    return;
  }
  const raw = await unpack("chart-" + found.chart);
  if (!calendars.has(raw.calendar)) calendars.set(raw.calendar, running(await unpack("calendar-" + raw.calendar), 1));
  const data = {
    ...raw, days: calendars.get(raw.calendar), close: running(raw.close, 10 ** raw.closeDecimals),
    value: running(raw.value, 10 ** raw.valueDecimals),
  };
  const buys = data.fills.filter((fill) => fill[1] === "B").length;
  const drawing = el("div"), read = el("div", { class: "read" });
  box.append(el("h3", {}, data.title),
    el("p", { class: "dim" }, el("small", {}, `close, with ${buys} buys ▲ and ${data.fills.length - buys} sells ▼ at their prices; below, portfolio value, from $${money(data.cash)}; shaded: in a position`)),
    drawing, read);
  const paint = () => { if (box.isConnected) drawing.replaceChildren(draw(data, Math.max(280, drawing.clientWidth), read)); };
  paint();
  new ResizeObserver(paint).observe(box);
}

const money = (value) => value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const day = (data, bar) => new Date(data.days[bar] * 864e5).toISOString().slice(0, 10);

function ticks(low, high, count) {
  const rough = (high - low) / count || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high; at++) found.push(at * step);
  return found;
}

function pane(series, top, height, offset, x, klass) {
  const low = series.reduce((a, b) => Math.min(a, b)), high = series.reduce((a, b) => Math.max(a, b));
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  const y = (value) => top + height - ((value - low + room) / (high - low + 2 * room)) * height;
  let d = "";
  series.forEach((value, at) => { d += (at ? "L" : "M") + x(at + offset).toFixed(1) + " " + y(value).toFixed(1); });
  return { y, marks: ticks(low, high, 4), line: el("path", { class: klass, d }) };
}

function draw(data, width, read) {
  const left = 58, right = 8, bars = data.days.length, heights = [12, 230, 272, 130], foot = 424;
  const x = (bar) => left + (bar / Math.max(1, bars - 1)) * (width - left - right);
  const price = pane(data.close, heights[0], heights[1], 0, x, "close");
  const worth = pane(data.value, heights[2], heights[3], data.first, x, "worth");
  const svg = el("svg", { viewBox: `0 0 ${width} ${foot}`, height: foot, role: "img", "aria-label": "closes, fills and portfolio value of the backtest" });
  for (const part of [price, worth]) {
    for (const mark of part.marks) {
      const y = part.y(mark);
      svg.append(el("line", { class: "grid", x1: left, x2: width - right, y1: y, y2: y }),
        el("text", { x: left - 7, y: y + 4, "text-anchor": "end" }, mark.toLocaleString("en-US", { maximumFractionDigits: 4 })));
    }
  }
  for (const bar of dated(data, width)) svg.append(el("text", { x: x(bar), y: foot - 3, "text-anchor": "middle" }, day(data, bar).slice(0, 7)));
  svg.append(held(data, x, heights), price.line, worth.line);
  for (const [bar, side, , at] of data.fills) {
    const up = side === "B", cx = x(bar), cy = price.y(at) + (up ? 3 : -3), s = up ? 1 : -1;
    svg.append(el("path", { class: up ? "buy" : "sell", d: `M${cx} ${cy}l-4 ${8 * s}h8z` }));
  }
  hover(svg, data, { x, left, right, width, foot }, read);
  return svg;
}

function dated(data, width) {
  const count = Math.max(2, Math.floor(width / 110));
  return Array.from({ length: count }, (_, at) => Math.round(((at + 0.5) / count) * (data.days.length - 1)));
}

function held(data, x, [top, , below, height]) {
  const group = el("g");
  let shares = 0, since = 0;
  for (const [bar, side, size] of [...data.fills, [data.days.length - 1, "S", Infinity]]) {
    const before = shares;
    shares = Math.max(0, shares + (side === "B" ? size : -size));
    if (!before && shares) since = bar;
    if (before && !shares) group.append(el("rect", { class: "held", x: x(since), y: top, width: Math.max(1, x(bar) - x(since)), height: below + height - top }));
  }
  return group;
}

function hover(svg, data, { x, left, right, width, foot }, read) {
  const cross = el("line", { class: "cross", y1: 12, y2: foot - 20, visibility: "hidden" });
  svg.append(cross);
  const say = (bar) => {
    const value = data.value[bar - data.first];
    const fills = data.fills.filter((fill) => fill[0] === bar).map(([, side, size, at]) => `${side === "B" ? "bought" : "sold"} ${size} at ${at.toFixed(2)}`);
    read.textContent = `${day(data, bar)}: close ${data.close[bar].toFixed(Math.max(2, data.closeDecimals))}` + (value === undefined ? "" : `, portfolio $${money(value)}`) + (fills.length ? "; " + fills.join("; ") : "");
  };
  const last = data.days.length - 1;
  say(last);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const share = (((event.clientX - box.left) / box.width) * width - left) / (width - left - right);
    const bar = Math.min(last, Math.max(0, Math.round(share * last)));
    cross.setAttribute("x1", x(bar));
    cross.setAttribute("x2", x(bar));
    cross.setAttribute("visibility", "visible");
    say(bar);
  });
  svg.addEventListener("pointerleave", () => { cross.setAttribute("visibility", "hidden"); say(last); });
}

unpack("index").then((found) => { index = found; makeFilters(); return route(); });
