import type { ListWindow, WindowItem } from './window.ts'

/** The rows of a long list that are in the page, with their elements. Measures them for the window. */
export class MountedRows<T extends WindowItem> {
  readonly #window: ListWindow<T>
  readonly #rows = new Map<Element, T>()
  readonly #elements = new Map<string, HTMLElement>()
  readonly #new = new Set<Element>()
  #list: HTMLElement | undefined
  #observer: ResizeObserver | undefined

  constructor(window: ListWindow<T>) {
    this.#window = window
  }

  /** Starts observing sizes; returns a function that stops. `resized`: called when the list, its content or a row has another size. */
  attach(list: HTMLElement, content: HTMLElement, resized: ResizeObserverCallback): () => void {
    this.#list = list
    const observer = new ResizeObserver(resized)
    this.#observer = observer
    observer.observe(list)
    observer.observe(content)
    for (const row of this.#rows.keys()) observer.observe(row)
    return () => {
      observer.disconnect()
      this.#list = undefined
    }
  }

  /** Registers a row that was mounted, or whose item changed; returns a function that removes the row. */
  mount(element: HTMLElement, item: T): () => void {
    this.#rows.set(element, item)
    this.#elements.set(item.key, element)
    this.#new.add(element)
    this.#observer?.observe(element)
    return () => {
      this.#rows.delete(element)
      this.#new.delete(element)
      if (this.#elements.get(item.key) === element) this.#elements.delete(item.key)
      this.#observer?.unobserve(element)
    }
  }

  has(element: Element): boolean {
    return this.#rows.has(element)
  }

  elementOf(key: string): HTMLElement | undefined {
    return this.#elements.get(key)
  }

  /** The row that contains a node. */
  rowOf(node: Node | null): T | undefined {
    for (let at = node; at && at !== this.#list; at = at.parentNode) {
      const row = this.#rows.get(at as Element)
      if (row) return row
    }
    return undefined
  }

  /** The row with the focus. */
  get focused(): T | undefined {
    return this.rowOf(this.#list?.ownerDocument.activeElement ?? null)
  }

  measureNew(): void {
    for (const row of this.#new) this.measure(row, row.getBoundingClientRect().height)
    this.#new.clear()
  }

  /** Stores the measured height of a row; returns false if the height was already known. */
  measure(row: Element, height: number): boolean {
    const item = this.#rows.get(row)
    if (!item) return false
    if (item.measured && Math.abs(item.height - height) < 0.01) return false
    // without a layout, all heights are 0, so the estimate is better
    if (height === 0 && !item.measured) return false
    this.#window.setHeight(item, height)
    return true
  }
}
