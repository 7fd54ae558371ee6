import type { HLJSApi } from 'highlight.js'
import { grammarOf, grammars } from './languages.ts'

const wanted = new Set<string>()
const loading = new Map<string, Promise<void>>()
/** Loaded with the first grammar, so that conversations without code don't need it. */
let hljs: HLJSApi | undefined
let core: Promise<HLJSApi> | undefined

/**
 * The code as HTML with `hljs-…` spans, or `undefined` when its language is unknown or not loaded yet; in the latter case
 * {@link takeWanted} names it.
 */
export function highlight(code: string, language: string): string | undefined {
  const grammar = grammarOf(language)
  if (!grammar) return undefined
  if (!hljs?.getLanguage(grammar)) {
    wanted.add(grammar)
    return undefined
  }
  const html = hljs.highlight(code, { language: grammar, ignoreIllegals: true }).value
  return html.replace(storage, '<span class="hljs-keyword hljs-storage">$1<')
}

/** Keywords of declarations, which most themes color differently from control flow keywords. */
const storage =
  /<span class="hljs-keyword">(const|let|var|function|fn|def|func|fun|class|interface|type|enum|struct|trait|impl|extends|implements|static|public|private|protected|internal|readonly|abstract|final|async|mut|val|void|namespace|package)</g

/** The grammars that were requested since the last call and aren't loaded. */
export function takeWanted(): string[] {
  const list = [...wanted]
  wanted.clear()
  return list
}

/** Loads grammars; each is fetched once. If a grammar can't be fetched, its code stays plain. */
export async function loadGrammars(names: readonly string[]): Promise<void> {
  await Promise.all(
    names.map(name => {
      let promise = loading.get(name)
      if (!promise) {
        core ??= import('highlight.js/lib/core').then(module => module.default)
        promise = Promise.all([core, grammars[name]!()]).then(
          ([engine, grammar]) => {
            hljs = engine
            engine.registerLanguage(name, grammar.default)
          },
          () => undefined,
        )
        loading.set(name, promise)
      }
      return promise
    }),
  )
}
