/**
 * The source of a formula or diagram as an attribute: the sanitizer drops attributes whose text could end a comment or an
 * element, as the arrows of diagrams do.
 */
export function packSource(source: string): string {
  // lone surrogates can't be encoded
  return encodeURIComponent(source.replace(/\p{Surrogate}/gu, '\uFFFD'))
}

/** The source that an element was made from. */
export function sourceOf(element: HTMLElement | null | undefined): string {
  try {
    return decodeURIComponent(element?.dataset.source ?? '')
  } catch {
    return ''
  }
}
