/**
 * Encodes the source of a formula or diagram for an attribute, since the sanitizer drops attributes whose text could end a
 * comment or an element, as the arrows of diagrams could.
 */
export function packSource(source: string): string {
  // lone surrogates can't be encoded
  return encodeURIComponent(source.replace(/\p{Surrogate}/gu, '\uFFFD'))
}

/** Returns the source of the formula or diagram that an element shows. */
export function sourceOf(element: HTMLElement | null | undefined): string {
  try {
    return decodeURIComponent(element?.dataset.source ?? '')
  } catch {
    return ''
  }
}
