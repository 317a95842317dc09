// The theme, and how still the page keeps.

const THEMES = Object.freeze(["light", "dark", "projector"]);

/** What a reader may choose about the page itself. */
export class Options {
  constructor() {
    this.letters = true; // single letters are keys
    this.pills = "all"; // which messages travel on the board
    /** @type {boolean | null} */
    this.calm = null; // less motion, or null: as the system has it
  }

  get still() {
    return this.calm ?? matchMedia("(prefers-reduced-motion: reduce)").matches;
  }
}

/** Light, dark or projector; "auto" follows JupyterLab, else the system. */
export class Theme {
  /** @param {import("../lab.js").Lab} lab */
  constructor(lab) {
    this.lab = lab;
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.onChange = () => this.apply();
    this.dark.addEventListener("change", this.onChange);
    this.watch = new MutationObserver(this.onChange);
    this.watch.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  }

  close() {
    this.dark.removeEventListener("change", this.onChange);
    this.watch.disconnect();
  }

  get name() {
    const { model, presenter } = this.lab;
    const chosen = model.get("theme");
    const theme = presenter.on && chosen !== "dark" ? "projector" : chosen;
    if (theme !== "auto") return theme;
    const light = document.body.getAttribute("data-jp-theme-light");
    if (light === "true" || light === "false") return light === "true" ? "light" : "dark";
    return this.dark.matches ? "dark" : "light";
  }

  /** Put the classes on, and measure again. */
  apply() {
    this.mark();
    if (this.lab.screen.stage) this.lab.screen.refit();
  }

  mark() {
    const { classList } = this.lab.ui.root;
    const { name } = this;
    THEMES.forEach((each) => classList.toggle(`rk-${each}`, each === name));
    if (this.lab.presenter.on) classList.add("rk-projector"); // its sizes; the colours stay dark where that is chosen
    classList.toggle("rk-calm", this.lab.options.still);
  }
}
