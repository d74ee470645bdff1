// On paper a page is light, and shows the solutions unless the reader wants them away. At the head of
// the exercises stand that choice and a button that opens or closes all solutions on the screen.
{
  const page = document.documentElement.dataset;
  let theme;
  addEventListener("beforeprint", () => {
    theme = page.theme;
    page.theme = "light";
  });
  addEventListener("afterprint", () => (page.theme = theme));

  const solutions = [...document.querySelectorAll("article .tag_solution details")];
  const heading = document.querySelector("#exercises > :is(h2, h3)");
  if (heading && solutions.length) {
    const row = document.createElement("div");
    row.className = "all-solutions";
    const button = document.createElement("button");
    const allOpen = () => solutions.every((one) => one.open);
    const name = () => {
      button.textContent = `${allOpen() ? "Close" : "Open"} all solutions`;
    };
    button.type = "button";
    button.addEventListener("click", () => {
      const open = !allOpen();
      for (const one of solutions) one.open = open;
    });
    for (const one of solutions) one.addEventListener("toggle", name);
    name();

    const label = document.createElement("label");
    const printed = document.createElement("input");
    printed.type = "checkbox";
    printed.checked = true;
    printed.addEventListener("change", () => (page.solutions = printed.checked ? "" : "unprinted"));
    label.append(printed, " Print them too");
    row.append(button, label);
    heading.after(row);
  }
}
