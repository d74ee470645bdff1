// On a narrow screen a tap on a figure shows it at twice the screen's width, to be moved about; by
// itself, as the link has it, a browser would draw it smaller than the page does.
{
  const narrow = matchMedia("(max-width: 575px)");

  function make(name, attributes, ...children) {
    const element = Object.assign(document.createElement(name), attributes);
    element.append(...children);
    return element;
  }

  function enlarge(picture) {
    const close = make("button", { type: "button", onclick: () => dialog.close() }, "Close");
    const copy = make("img", { src: picture.src, alt: picture.alt });
    const box = make("div", { className: "enlarged-box", tabIndex: 0, role: "group", ariaLabel: "Figure" }, copy);
    const dialog = make("dialog", { className: "enlarged", ariaLabel: "Enlarged figure" }, close, box);
    dialog.onclose = () => dialog.remove();
    document.body.append(dialog);
    dialog.showModal();
  }

  // On the document: code that runs on the page puts new figures there.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("article a.image-reference");
    if (!link || !narrow.matches) return;
    event.preventDefault();
    enlarge(link.querySelector("img"));
  });
}
