/**
 * The functions of the package `entities` that markdown-it uses, without the package's 24 kB of names, which the browser already knows.
 * Replaces the package in the bundles of the webviews.
 */
let page: HTMLTextAreaElement | undefined

/** The characters of a named reference (`&auml;`); the reference itself if the name is unknown. */
export function decodeHTMLStrict(reference: string): string {
  page ??= document.createElement('textarea')
  page.innerHTML = reference
  const text = page.value
  // browsers also accept a prefix of a name: `&notx;` becomes `¬x;`
  return [...text].length <= 2 ? text : reference
}
