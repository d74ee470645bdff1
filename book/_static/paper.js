// On paper a page is light, and shows the solutions that are open. A button opens or closes them all.
{
  const page = document.documentElement.dataset;
  let theme;
  addEventListener("beforeprint", () => {
    theme = page.theme;
    page.theme = "light";
  });
  addEventListener("afterprint", () => (page.theme = theme));

  const solutions = [...document.querySelectorAll("article details")].filter(
    (details) => details.firstElementChild.textContent.trim() === "Solution",
  );
  const heading = document.querySelector("#exercises > :is(h2, h3)");
  if (heading && solutions.length) {
    const button = document.createElement("button");
    const allOpen = () => solutions.every((one) => one.open);
    const name = () => {
      button.textContent = `${allOpen() ? "Close" : "Open"} all solutions`;
    };
    button.type = "button";
    button.className = "all-solutions";
    button.addEventListener("click", () => {
      const open = !allOpen();
      for (const one of solutions) one.open = open;
    });
    for (const one of solutions) one.addEventListener("toggle", name);
    name();
    heading.after(button);
  }
}
