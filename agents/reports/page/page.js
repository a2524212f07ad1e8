// ---- the report's page: what it adds to the shared script

const FIELDS = ["agent", "status", "tier", "template", "strategy", "category", "scheme"];
const CODES = { correct: "✓", wrong: "✗", unparsed: "?", refused: "R", tool_attempted: "T", timeout: "…", agent_error: "E", harness_error: "H" };

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

// ---- the list

const choices = () => ({ agent: index.agents.map((name, place) => [String(place), name]), status: Object.entries(index.statuses) });

function fits([, , , byAgent], chosen) {
  const mine = chosen.agent ? byAgent[chosen.agent] || [] : byAgent.flat();
  if (chosen.agent && !mine.length) return false;
  return !chosen.status || mine.includes(Object.keys(index.statuses).indexOf(chosen.status));
}

const searched = (found) => [found.id, found.stem, found.ask, ...Object.values(found.options || {}), ...found.attempts.map((one) => one.reply)];

function legend() {
  const shown = Object.entries(index.statuses).map(([name, text]) => el("span", {}, el("i", { class: name }, CODES[name]), " " + text));
  $("count").append(el("span", { class: "marks legend" }, shown));
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

unpack("index").then((found) => {
  index = found;
  makeFilters("search question, options, replies, id");
  legend();
  return route();
});
