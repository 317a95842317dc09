// What is wrong with a notebook on the screen: parts wider than their box, text with little contrast, small text, standard error.
() => {
  const LEAST_CONTRAST = 4.5;
  const LEAST_SIZE = 11;
  const shown = (element) => element.checkVisibility?.({ checkOpacity: true, checkVisibilityCSS: true }) ?? true;
  const cellOf = (element) => {
    const cells = [...document.querySelectorAll(".jp-Notebook .jp-Cell")];
    return cells.indexOf(element.closest(".jp-Cell"));
  };
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].map((value, place) => (place === 3 ? value / 255 : value));
  };
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((value) => {
      const share = value / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const over = (top, below) => top.slice(0, 3).map((value, place) => value * top[3] + below[place] * (1 - top[3]));
  const behind = (element) => {
    const layers = [];
    const plot = element.closest(".js-plotly-plot")?.querySelector(".main-svg");
    for (let at = plot ?? element; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const found = { wide: [], faint: [], small: [], stderr: [], errors: [], missing: [] };
  const note = document.querySelector(".jp-Notebook");
  for (const box of note.querySelectorAll(".jp-OutputArea-output, .jp-RenderedHTMLCommon, .cm-scroller, pre, table, .jp-OutputArea-output *")) {
    const style = getComputedStyle(box);
    const excess = box.scrollWidth - box.clientWidth;
    if (!shown(box) || box.clientWidth === 0 || excess <= 2 || style.display === "inline") continue;
    if (style.overflowX === "visible" && box.tagName !== "TABLE") continue;
    found.wide.push([cellOf(box), box.tagName + "." + String(box.className.baseVal ?? box.className).slice(0, 50), style.overflowX, excess, box.textContent.trim().slice(0, 60)]);
  }
  const edge = note.getBoundingClientRect().right;
  for (const box of note.querySelectorAll(".jp-OutputArea-output table, .jp-OutputArea-output img, .jp-MarkdownOutput table, .jp-MarkdownOutput img, .rk-lab, .rk-quiz")) {
    const { right } = box.getBoundingClientRect();
    if (shown(box) && right > edge + 1) found.wide.push([cellOf(box), `${box.tagName} past the page`, "", Math.round(right - edge), ""]);
  }
  const walker = document.createTreeWalker(note, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const element = text.parentElement;
    if (!text.data.trim() || ["STYLE", "SCRIPT", "TITLE", "DESC"].includes(element.tagName) || !shown(element)) continue;
    if (element.closest(".cm-editor, .jp-InputPrompt, .jp-OutputPrompt, pre code")) continue; // coloured by JupyterLab
    const style = getComputedStyle(element);
    const drawn = element instanceof SVGElement;
    const top = rgba(drawn ? style.fill : style.color);
    const below = behind(element);
    const [light, dark] = [luminance(over(top, below)), luminance(below)].sort((a, b) => b - a);
    const contrast = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize);
    const key = [cellOf(element), element.className.baseVal ?? element.className, style.color, style.fontSize].join();
    if (seen.has(key)) continue;
    seen.add(key);
    const part = `${element.tagName}.${String(element.className.baseVal ?? element.className).slice(0, 40)}`;
    if (contrast < LEAST_CONTRAST) found.faint.push([cellOf(element), part, +contrast.toFixed(2), drawn ? style.fill : style.color, `rgb(${below.map(Math.round)})`, text.data.trim().slice(0, 60)]);
    if (size < LEAST_SIZE) found.small.push([cellOf(element), part, size, text.data.trim().slice(0, 60)]);
  }
  for (const box of note.querySelectorAll("[data-mime-type='application/vnd.jupyter.stderr']")) found.stderr.push([cellOf(box), box.textContent.slice(0, 120)]);
  for (const box of note.querySelectorAll("[data-mime-type='application/vnd.jupyter.error']")) found.errors.push([cellOf(box), box.textContent.slice(0, 120)]);
  for (const box of note.querySelectorAll(".jp-OutputArea-output")) {
    if (/Error displaying widget|model not found|Loading widget|JavaScript Error/.test(box.textContent) && shown(box)) found.missing.push([cellOf(box), box.textContent.slice(0, 80)]);
    if (shown(box) && !box.textContent.trim() && !box.querySelector("img, svg, canvas, style")) found.missing.push([cellOf(box), "empty output"]);
  }
  return found;
}
