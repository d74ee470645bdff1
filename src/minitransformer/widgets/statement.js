// A statement to judge: three buttons, and after a choice the verdict and the reason.

const CHOICES = ["right", "wrong", "only if"];

function render({ model, el }) {
  const answer = html("div", { class: "mt-summary", role: "status", hidden: true });
  const text = html("p", { class: "mt-statement" });
  const buttons = CHOICES.map((choice) =>
    html("button", { type: "button", "aria-pressed": "false", onclick: () => choose(choice) }, choice),
  );
  const again = html("button", { type: "button", hidden: true, onclick: () => choose(null) }, "Hide the answer");

  function choose(choice) {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(CHOICES[i] === choice)));
    answer.hidden = again.hidden = choice === null;
    if (choice === null) {
      answer.replaceChildren();
      buttons[0].focus();
      return;
    }
    const verdict = model.get("verdict");
    const said = choice === verdict ? "Yes: " : `You said “${choice}”. It is: `;
    answer.classList.toggle("mt-missed", choice !== verdict);
    answer.replaceChildren(said, html("strong", {}, verdict), verdict === "only if" ? " " : ". ", model.get("why"));
  }

  function show() {
    setText(text, `“${model.get("text")}”`);
    // A page holds many: each is named by its own words.
    root.setAttribute("aria-label", `To judge: “${model.get("text")}”`);
    answer.hidden = again.hidden = true;
    buttons.forEach((button) => button.setAttribute("aria-pressed", "false"));
  }

  const row = div("mt-buttons", ...buttons, again);
  setAttributes(row, { role: "group", "aria-label": "Your answer" });
  const root = html("section", { class: "mt-widget" }, text, row, answer);
  putInto(el, root);
  const names = ["text", "verdict", "why"];
  for (const name of names) model.on(`change:${name}`, show);
  show();
  return () => {
    for (const name of names) model.off(`change:${name}`, show);
    root.remove();
  };
}

export default { render };
