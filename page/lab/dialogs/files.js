// Files: bytes of the kernel become a download; the picture of a view is drawn by the browser itself.

import { make } from "../../shared/dom.js";

function download(name, bytes, kind) {
  const address = URL.createObjectURL(new Blob([bytes], { type: kind }));
  const link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

// The lab as it stands, put into an SVG with its own style, then into a canvas.
async function picture(lab) {
  let css = [...document.styleSheets].flatMap((sheet) => {
    try {
      return [...sheet.cssRules];
    } catch {
      return [];
    }
  }).map((rule) => rule.cssText).filter((text) => text.includes("rk-")).join("\n");
  if (!css && !lab.alone) {
    const answer = await lab.talk.request({ type: "export", what: "style" });
    css = new TextDecoder().decode(answer.buffers[0]);
  }
  const box = lab.ui.root.getBoundingClientRect(), copy = lab.ui.root.cloneNode(true);
  const drawn = [...lab.ui.root.querySelectorAll("canvas")];
  copy.querySelectorAll("canvas").forEach((canvas, place) =>
    canvas.replaceWith(
      Object.assign(
        make("img", {
          src: drawn[place].toDataURL(),
          style: canvas.getAttribute("style") || "",
          class: canvas.className || null,
        }),
      ),
    )
  );
  copy.querySelectorAll("[hidden]").forEach((node) => node.remove());
  const body = new XMLSerializer().serializeToString(copy);
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${box.width}" height="${box.height}"><foreignObject width="100%" height="100%"><div xmlns="http://www.w3.org/1999/xhtml"><style>${
      css.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
    }</style>${body}</div></foreignObject></svg>`;
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = make("canvas", { width: Math.round(box.width * 2), height: Math.round(box.height * 2) }),
    pen = canvas.getContext("2d");
  pen.scale(2, 2);
  pen.drawImage(image, 0, 0);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

export async function save(lab, what) {
  if (what === "png") {
    download(
      `${lab.model.get("controls").preset}-${Math.round(lab.player.at)}ms.png`,
      await picture(lab),
      "image/png",
    );
    lab.tell("The picture is in your downloads.");
    return;
  }
  const answer = await lab.talk.request({ type: "export", what });
  if (answer.type === "refused") {
    lab.refuse(answer.words);
    return;
  }
  download(answer.file, answer.buffers[0], answer.file.endsWith("html") ? "text/html" : "text/plain");
  lab.tell(`${answer.file} is in your downloads.`);
}
