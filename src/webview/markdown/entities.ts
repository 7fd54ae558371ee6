/**
 * What markdown-it needs of the package `entities`, without its 24 kB of names: the browser knows them all. Takes the
 * place of the package in the bundles of the webviews.
 */
let page: HTMLTextAreaElement | undefined

/** The characters that a named reference (`&auml;`) stands for; the reference itself when there is no such name. */
export function decodeHTMLStrict(reference: string): string {
  page ??= document.createElement('textarea')
  page.innerHTML = reference
  const text = page.value
  // a browser takes the beginning of a name for the name: `&notx;` for `¬x;`
  return [...text].length <= 2 ? text : reference
}
