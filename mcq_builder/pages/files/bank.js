// ---- the bank's page: what it adds to the shared script

const FIELDS = ["tier", "template", "strategy", "category", "scheme"];
const choices = () => ({});
const fits = () => true;
// The key is behind a click, so a search doesn't look at it, nor at the program that computes it.
const searched = (found) => [found.id, found.stem, ...Object.values(found.options), ...found.facts.map(([, text]) => text)];

// ---- routes: #questions?FILTERS, #q/ID

async function route() {
  if (!index) return;
  const hash = location.hash.slice(1), one = hash.startsWith("q/");
  $("view-questions").hidden = one;
  $("view-question").hidden = !one;
  scrollTo(0, 0);
  if (one) await show(hash.slice(2)); else await list();
}

function listed(place) {
  const [id, places, ask] = index.rows[place];
  const kinds = index.kinds.map((kind, at) => index.names[kind][places[at]]).filter(Boolean);
  return el("li", {}, el("a", { href: "#q/" + id }, el("span", {}, ask), el("span", { class: "what" }, [...new Set(kinds)].join(" · "))));
}

// ---- one question

async function show(id) {
  const place = index.rows.findIndex((row) => row[0] === id || id.startsWith(row[0]));
  const page = $("view-question");
  if (place < 0) return page.replaceChildren(el("h1", {}, "No such question"), el("p", {}, el("a", { href: "#questions" }, "All questions")));
  const found = await question(place);
  const kinds = [...new Set(index.kinds.map((kind) => found[kind]).filter(Boolean))].join(" · ");
  const chart = el("div", { class: "chart" }), list = el("ol", { class: "options" }), secret = el("div", { class: "secret" });
  page.replaceChildren(steps(place),
    el("h1", {}, found.ask.split("\n")[0].slice(0, 200)),
    el("p", { class: "dim" }, kinds, el("br"), el("small", {}, found.id)),
    el("div", { class: found.chart === undefined || found.chart === null ? "one" : "two" }, el("div", {}, stem(found.stem), list, secret), chart,
      el("div", {}, el("h2", {}, "Provenance"), table([["record", found.where], ...found.facts]))));
  fillOptions(list, found, false);
  await fillSecret(list, secret, chart, found, $("all") && $("all").checked);
}

// Mined questions hold code between fences.
function stem(text) {
  const parts = text.split(/^```\w*\n([^]*?)^```$/m);
  return el("div", { class: "stem" }, parts.map((part, at) => (at % 2 ? el("pre", { tabindex: "0" }, part.trimEnd()) : part.replace(/^\n|\n$/g, ""))));
}

function fillOptions(list, found, open) {
  list.replaceChildren(...Object.entries(found.options).map(([letter, option]) => {
    const origin = open ? found.origins[letter] : null, key = open && letter === found.key;
    const notes = [key ? "the key" : null, origin && origin !== "key" ? origin : null].filter(Boolean).join("; ");
    return el("li", { class: key ? "key" : null }, el("b", {}, letter), el("span", {}, option), notes ? el("small", {}, notes) : null);
  }));
}

async function fillSecret(list, box, chart, found, open) {
  if (found.key === undefined) return;
  fillOptions(list, found, open);
  const button = el("button", { type: "button", "aria-expanded": String(Boolean(open)) }, open ? "Hide the key" : "Show the key");
  button.addEventListener("click", () => { fillSecret(list, box, chart, found, !open); box.querySelector("button").focus({ preventScroll: true }); });
  box.replaceChildren(button);
  if (open) box.append(table([["key", found.key], ...found.secret]));
  if (open && found.verifier) box.append(el("details", {}, el("summary", {}, "Verifier, the program that computes the answer"), el("pre", { tabindex: "0" }, found.verifier)));
  await fillChart(chart, found, open);
}

// Trades and the portfolio's value are what many questions ask for, so a chart waits for the same click.
async function fillChart(chart, found, open) {
  const inner = el("div");
  chart.replaceChildren(inner);  // a drawing that is still on its way into an older one is lost with it
  if (open || found.noChart) await fill(inner, found);
  else if (found.chart !== null && found.chart !== undefined) inner.append(el("p", { class: "dim" }, "The chart is shown with the key: it gives many answers away."));
}

const table = (rows) => el("dl", {}, rows.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]));

unpack("index").then((found) => {
  index = found;
  makeFilters("search question, options, provenance, id");
  if ($("all")) $("all").addEventListener("change", route);
  return route();
});
