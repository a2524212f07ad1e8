// ---- the chart of a backtest; shared by the pages of banks and reports

const calendars = new Map();
const ROOM = { top: 12, left: 58, right: 8, price: 230, own: 84, worth: 130, between: 30, foot: 22 };

async function fill(box, found) {
  if (found.chart === null || found.chart === undefined) {
    if (found.noChart) box.append(el("p", { class: "dim" }, "No chart: " + found.noChart));
    return;
  }
  const data = await chartOf(found.chart);
  const buys = data.fills.filter((fill) => fill[1] === "B").length;
  const drawing = el("div"), read = el("div", { class: "read" });
  const middle = data.own ? `, ${data.own.title}` : "";
  box.append(el("h3", {}, data.title),
    el("p", { class: "dim" }, el("small", {}, `close, with ${buys} buys ▲ and ${data.fills.length - buys} sells ▼ at their prices; below${middle}, portfolio value, from $${money(data.cash, 2)}; shaded: in a position`)),
    keys(data), drawing, read);
  const paint = () => { if (box.isConnected) drawing.replaceChildren(draw(data, Math.max(280, drawing.clientWidth), read)); };
  paint();
  new ResizeObserver(paint).observe(box);
}

// The series of a packed chart, one entry a bar, null where there is none.
async function chartOf(place) {
  const raw = await unpack("chart-" + place);
  if (!calendars.has(raw.calendar)) calendars.set(raw.calendar, running(await unpack("calendar-" + raw.calendar), 1));
  const scale = 10 ** raw.closeDecimals, close = running(raw.close, scale), bars = close.length;
  const lines = raw.lines.map(([kind, n], at) => ({ name: `${kind.toUpperCase()}(${n})`, klass: "line c" + (at + 1), values: kind === "sma" ? sma(close, n) : ema(close, n) }));
  if (raw.stops.length) {
    const values = Array(bars).fill(null);
    for (const [first, levels] of raw.stops) running(levels, scale).forEach((level, at) => { values[first + at] = level; });
    lines.push({ name: "stop", klass: "line stop c6", values });
  }
  const own = raw.own && { ...raw.own, lines: raw.own.lines.map(([name, first, values, decimals], at) => ({ name, klass: "line c" + (at + 4), values: placed(running(values, 10 ** decimals), first, bars) })) };
  return { ...raw, days: calendars.get(raw.calendar), close, lines, own, value: running(raw.value, 10 ** raw.valueDecimals) };
}

const placed = (values, first, bars) => [...Array(first).fill(null), ...values, ...Array(Math.max(0, bars - first - values.length)).fill(null)];

function sma(values, n) {
  let sum = 0;
  return values.map((value, at) => { sum += value - (at >= n ? values[at - n] : 0); return at >= n - 1 ? sum / n : null; });
}

// Seeded with the mean of the first n values, as backtrader does it.
function ema(values, n) {
  let last = values.slice(0, n).reduce((a, b) => a + b, 0) / n;
  return values.map((value, at) => { if (at < n - 1) return null; if (at >= n) last += (value - last) * (2 / (n + 1)); return last; });
}

function keys(data) {
  const all = [{ name: "close", klass: "" }, ...data.lines, ...(data.own ? data.own.lines : [])];
  return el("div", { class: "keys" }, all.map((one) => el("span", { class: one.klass.replace(/line|stop/g, "").trim() || null }, one.name)));
}

const money = (value, digits) => value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
const day = (data, bar) => new Date(data.days[bar] * 864e5).toISOString().slice(0, 10);

function ticks(low, high, count) {
  const rough = (high - low) / count || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high; at++) found.push(at * step || 0); // never -0
  return found;
}

// A part of the picture with a scale of its own, wide enough for all of `shown`.
function pane(shown, top, height) {
  const known = shown.flat().filter((value) => value !== null);
  const low = known.reduce((a, b) => Math.min(a, b)), high = known.reduce((a, b) => Math.max(a, b));
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  const y = (value) => top + height - ((value - low + room) / (high - low + 2 * room)) * height;
  return { y, top, height, marks: ticks(low, high, height > 100 ? 4 : 3) };
}

function path(values, offset, x, y, klass) {
  let d = "", pen = false;
  values.forEach((value, at) => {
    if (value !== null) d += (pen ? "L" : "M") + x(at + offset).toFixed(1) + " " + y(value).toFixed(1);
    pen = value !== null;
  });
  return el("path", { class: klass, d });
}

function draw(data, width, read) {
  const { left, right } = ROOM, bars = data.days.length;
  const x = (bar) => left + (bar / Math.max(1, bars - 1)) * (width - left - right);
  const price = pane([data.close, ...data.lines.map((line) => line.values)], ROOM.top, ROOM.price);
  const own = data.own && pane([data.own.bounds, ...data.own.lines.map((line) => line.values)], ROOM.top + ROOM.price + ROOM.between, ROOM.own);
  const above = own || price, worth = pane([data.value], above.top + above.height + ROOM.between, ROOM.worth);
  const foot = worth.top + worth.height + ROOM.foot;
  const svg = el("svg", { viewBox: `0 0 ${width} ${foot}`, height: foot, role: "img", "aria-label": "closes, indicators, fills and portfolio value of the backtest" });
  for (const part of [price, own, worth].filter(Boolean)) {
    for (const mark of part.marks) {
      const y = part.y(mark);
      svg.append(el("line", { class: "grid", x1: left, x2: width - right, y1: y, y2: y }),
        el("text", { x: left - 7, y: y + 4, "text-anchor": "end" }, mark.toLocaleString("en-US", { maximumFractionDigits: 4 })));
    }
  }
  for (const bar of dated(data, width)) svg.append(el("text", { x: x(bar), y: foot - 3, "text-anchor": "middle" }, day(data, bar).slice(0, 7)));
  svg.append(held(data, x, ROOM.top, worth.top + worth.height), path(data.close, 0, x, price.y, "close"),
    ...data.lines.map((line) => path(line.values, 0, x, price.y, line.klass)), path(data.value, data.first, x, worth.y, "worth"));
  if (own) {
    for (const at of data.own.bounds) svg.append(el("line", { class: "bound", x1: left, x2: width - right, y1: own.y(at), y2: own.y(at) }));
    svg.append(...data.own.lines.map((line) => path(line.values, 0, x, own.y, line.klass)));
  }
  for (const [bar, side, , at] of data.fills) {
    const up = side === "B", cx = x(bar), cy = price.y(at) + (up ? 3 : -3), s = up ? 1 : -1;
    svg.append(el("path", { class: up ? "buy" : "sell", d: `M${cx} ${cy}l-4 ${8 * s}h8z` }));
  }
  hover(svg, data, x, width, foot, read);
  return svg;
}

function dated(data, width) {
  const count = Math.max(2, Math.floor(width / 110));
  return Array.from({ length: count }, (_, at) => Math.round(((at + 0.5) / count) * (data.days.length - 1)));
}

function held(data, x, top, bottom) {
  const group = el("g");
  let shares = 0, since = 0;
  for (const [bar, side, size] of [...data.fills, [data.days.length - 1, "S", Infinity]]) {
    const before = shares;
    shares = Math.max(0, shares + (side === "B" ? size : -size));
    if (!before && shares) since = bar;
    if (before && !shares) group.append(el("rect", { class: "held", x: x(since), y: top, width: Math.max(1, x(bar) - x(since)), height: bottom - top }));
  }
  return group;
}

// What is known of one bar, in words; series are told to the decimals that they are kept with.
function told(data, bar) {
  const digits = Math.max(0, data.closeDecimals), value = data.value[bar - data.first];
  const lines = [...data.lines.map((line) => [line, digits]), ...(data.own ? data.own.lines.map((line) => [line, 2]) : [])];
  return [`${day(data, bar)}: close ${data.close[bar].toFixed(digits)}`,
    ...lines.filter(([line]) => line.values[bar] !== null).map(([line, places]) => `${line.name} ${line.values[bar].toFixed(places)}`),
    value === undefined ? null : `portfolio $${money(value, Math.max(0, Math.min(2, data.valueDecimals)))}`,
    ...data.fills.filter((fill) => fill[0] === bar).map(([, side, size, at]) => `${side === "B" ? "bought" : "sold"} ${size} at ${at.toFixed(2)}`),
  ].filter(Boolean).join("; ");
}

function hover(svg, data, x, width, foot, read) {
  const cross = el("line", { class: "cross", y1: ROOM.top, y2: foot - ROOM.foot, visibility: "hidden" });
  svg.append(cross);
  const say = (bar) => { read.textContent = told(data, bar); };
  const last = data.days.length - 1;
  say(last);
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const share = (((event.clientX - box.left) / box.width) * width - ROOM.left) / (width - ROOM.left - ROOM.right);
    const bar = Math.min(last, Math.max(0, Math.round(share * last)));
    cross.setAttribute("x1", x(bar));
    cross.setAttribute("x2", x(bar));
    cross.setAttribute("visibility", "visible");
    say(bar);
  });
  svg.addEventListener("pointerleave", () => { cross.setAttribute("visibility", "hidden"); say(last); });
}
