let allowed = false

/**
 * The page's content security policy refuses style attributes and style elements that a script writes as text. A diagram is
 * measured while it is drawn, so it needs its own: attributes set by script go through the CSSOM, which is no inline style,
 * and style elements made by script carry the page's nonce. What an agent writes never gets here as HTML.
 */
export function allowDrawnStyles(): void {
  if (allowed) return
  allowed = true
  const nonce = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce
  const signed = <T>(element: T): T => {
    if (nonce && (element instanceof HTMLStyleElement || element instanceof SVGStyleElement))
      element.nonce = nonce
    return element
  }
  const create = document.createElement
  document.createElement = function (this: Document, name: string, options?: ElementCreationOptions) {
    return signed(create.call(this, name, options))
  } as typeof document.createElement
  const createIn = document.createElementNS
  document.createElementNS = function (this: Document, space: string | null, name: string) {
    return signed(createIn.call(this, space, name))
  } as typeof document.createElementNS
  const set = Element.prototype.setAttribute
  Element.prototype.setAttribute = function (this: Element, name: string, value: string) {
    if (name === 'style' && (this instanceof SVGElement || this instanceof HTMLElement)) {
      this.style.cssText = value
    } else set.call(this, name, value)
  }
}
