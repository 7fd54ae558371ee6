import { setBundle } from '../l10n.ts'

/** Reads what the host wrote into the page: the translations, and the language in `<html lang>`. */
export function readPage(): void {
  const element = document.getElementById('l10n')
  const bundle: unknown = element?.textContent ? JSON.parse(element.textContent) : {}
  const texts = typeof bundle === 'object' && bundle !== null ? (bundle as Record<string, string>) : {}
  setBundle(texts, document.documentElement.lang || 'en')
}
