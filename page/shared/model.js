// A widget's model without Jupyter: for the page that plays alone, and for tests that are the kernel themselves.

/**
 * @typedef {object} Model what anywidget hands to a widget
 * @property {(key: string) => any} get
 * @property {(key: string, value: unknown) => void} set
 * @property {() => void} save_changes
 * @property {(message: object) => void} send
 * @property {(name: string, listener: (...args: any[]) => void) => void} on
 * @property {(name: string, listener: (...args: any[]) => void) => void} off
 * @property {any} [widget_manager]
 * @property {Promise<void>} [ready] settled when somebody answers; a kernel is there from the start
 */

/**
 * @typedef {object} Kernel what a page without Jupyter talks to
 * @property {(message: object) => void} [send] hears what the page asks
 * @property {(state: Record<string, unknown>) => void} [save] hears what the page has set
 */

/**
 * The bytes behind a base64 text.
 * @param {string} text
 * @returns {DataView}
 */
export function bytesOf(text) {
  return new DataView(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
}

/** A model that holds its state itself. `receive` and `hear` are the kernel's side. */
export class PageModel {
  /**
   * @param {Record<string, unknown>} state
   * @param {Kernel} [kernel]
   */
  constructor(state, kernel = {}) {
    this.state = { ...state };
    this.kernel = kernel;
    /** @type {Map<string, Set<(...args: any[]) => void>>} */
    this.listeners = new Map();
  }

  /** @param {string} key */
  get(key) {
    return /** @type {any} */ (this.state[key]);
  }

  /**
   * @param {string} key
   * @param {unknown} value
   */
  set(key, value) {
    this.state[key] = value;
  }

  save_changes() {
    this.kernel.save?.(this.state);
  }

  /** @param {object} message */
  send(message) {
    this.kernel.send?.(message);
  }

  /**
   * @param {string} name
   * @param {(...args: any[]) => void} listener
   */
  on(name, listener) {
    const known = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, known.add(listener));
  }

  /**
   * @param {string} name
   * @param {(...args: any[]) => void} listener
   */
  off(name, listener) {
    this.listeners.get(name)?.delete(listener);
  }

  /**
   * Take new values from the kernel, all before any of them is told of; one that is the same is no change, as in Jupyter.
   * @param {Record<string, unknown>} state
   */
  receive(state) {
    const changed = Object.keys(state).filter((key) => this.state[key] !== state[key]);
    Object.assign(this.state, state);
    changed.forEach((key) => this.tell(`change:${key}`));
  }

  /**
   * Take a message from the kernel.
   * @param {object} message
   * @param {DataView[]} buffers
   */
  hear(message, buffers) {
    this.tell("msg:custom", message, buffers);
  }

  /**
   * @param {string} name
   * @param {...unknown} values
   */
  tell(name, ...values) {
    for (const listener of [...(this.listeners.get(name) ?? [])]) listener(...values);
  }
}
