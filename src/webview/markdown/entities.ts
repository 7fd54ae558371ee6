/**
 * What markdown-it needs of the package `entities`, without its 24 kB of names: the browser knows them all. Takes the
 * place of the package in the bundles of the webviews.
 */
let page: HTMLTextAreaElement | undefined

/** The characters of a named reference (`&auml;`); the reference itself when the name is unknown. */
export function decodeHTMLStrict(reference: string): string {
  page ??= document.createElement('textarea')
  page.innerHTML = reference
  const text = page.value
  // a browser takes the beginning of a name for the name: `&notx;` for `¬x;`
  return [...text].length <= 2 ? text : reference
}
