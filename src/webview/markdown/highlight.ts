import hljs from 'highlight.js/lib/core'
import { grammarOf, grammars } from './languages.ts'

const wanted = new Set<string>()
const loading = new Map<string, Promise<void>>()

/**
 * The code as HTML with `hljs-…` spans, or `undefined` when its language is unknown or not loaded yet; in the latter case
 * {@link takeWanted} names it.
 */
export function highlight(code: string, language: string): string | undefined {
  const grammar = grammarOf(language)
  if (!grammar) return undefined
  if (!hljs.getLanguage(grammar)) {
    wanted.add(grammar)
    return undefined
  }
  return hljs.highlight(code, { language: grammar, ignoreIllegals: true }).value
}

/** The grammars that were asked for since the last call and are not loaded. */
export function takeWanted(): string[] {
  const list = [...wanted]
  wanted.clear()
  return list
}

/** Loads grammars; each is fetched once. A grammar that cannot be fetched leaves its code plain. */
export async function loadGrammars(names: readonly string[]): Promise<void> {
  await Promise.all(
    names.map(name => {
      let promise = loading.get(name)
      if (!promise) {
        promise = grammars[name]!().then(
          module => hljs.registerLanguage(name, module.default),
          () => undefined,
        )
        loading.set(name, promise)
      }
      return promise
    }),
  )
}
