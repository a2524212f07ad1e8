"use strict";
// Shared by the pages of banks and reports; the page's own script follows and gives FIELDS, choices(), route(), fits(),
// searched(), listed() and show(). What comes from records and replies goes into the page as text nodes, never as markup.

const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const PAGE = 200;
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

// ---- the list and its filters

const filters = () => new URLSearchParams(location.hash.includes("?") ? location.hash.slice(location.hash.indexOf("?") + 1) : "");

function makeFilters(search) {
  const all = {
    ...choices(),
    ...Object.fromEntries(index.kinds.map((kind) => [kind, index.names[kind].map((name, place) => [String(place), name || "(none)"])])),
  };
  for (const field of FIELDS) {
    if (all[field].length < 2) continue;
    const select = el("select", { name: field }, el("option", { value: "" }, "all"));
    for (const [value, text] of all[field]) select.append(el("option", { value }, text));
    $("filters").append(el("label", {}, field, select));
  }
  $("filters").append(el("label", { class: "search" }, search, el("input", { type: "search", name: "text" })));
  const change = () => {
    const chosen = [...new FormData($("filters"))].filter(([, value]) => value.trim());
    history.replaceState(null, "", "#questions" + (chosen.length ? "?" + new URLSearchParams(chosen) : ""));
    limit = PAGE;
    list();
  };
  $("count").append("");
  let timer;
  $("filters").addEventListener("input", (event) => { clearTimeout(timer); timer = setTimeout(change, event.target.name === "text" ? 200 : 0); });
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("more").addEventListener("click", () => { limit += PAGE; list(); });
}

function matches(row, chosen) {
  return index.kinds.every((kind, at) => !chosen[kind] || String(row[1][at]) === chosen[kind]) && fits(row, chosen);
}

async function holds(place, text) {
  if (index.rows[place][0].startsWith(text)) return true;
  return searched(await question(place)).some((part) => part && part.toLowerCase().includes(text));
}

const counted = (number) => number.toLocaleString("en-US");

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
  $("count").firstChild.textContent = found.length === index.rows.length ? `${counted(found.length)} questions` : `${counted(found.length)} of ${counted(index.rows.length)} questions`;
  $("list").replaceChildren(...found.slice(0, limit).map(listed));
  $("more").hidden = found.length <= limit;
}

function steps(place) {
  const order = shownRows.includes(place) ? shownRows : index.rows.map((_, at) => at);
  const at = order.indexOf(place);
  const link = (to, text, rel) => (order[to] === undefined ? null : el("a", { href: "#q/" + index.rows[order[to]][0], rel }, text));
  const back = shownRows.length && shownRows.length < index.rows.length ? `${counted(at + 1)} of ${counted(order.length)} chosen` : `${counted(at + 1)} of ${counted(order.length)}`;
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
