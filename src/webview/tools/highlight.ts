import type { HLJSApi } from 'highlight.js'
import { loadOnce } from '../../common/async.ts'
import { grammarNames, grammarOf, loadGrammar } from './languages.ts'

const wanted = new Set<string>()
/** Loaded with the first grammar, so that conversations without code don't load it. */
const loadCore = loadOnce(async () => (await import('highlight.js/lib/core')).default)
let hljs: HLJSApi | undefined

/** by grammar: loads the grammar once */
const loaders = new Map(
  grammarNames.map(name => {
    const loader = loadOnce(async () => {
      const [engine, grammar] = await Promise.all([loadCore(), loadGrammar(name)])
      hljs = engine
      engine.registerLanguage(name, grammar)
    })
    return [name, loader]
  }),
)

/**
 * Returns the code as HTML with `hljs-…` spans, or `undefined` if its language is unknown or the grammar isn't loaded yet; then
 * {@link takeWanted} returns the grammar.
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

/** Returns the grammars that were needed since the last call but aren't loaded. */
export function takeWanted(): string[] {
  const list = [...wanted]
  wanted.clear()
  return list
}

/**
 * Loads each grammar once. Resolves to whether one was loaded, so that code can be drawn again. If a grammar can't be fetched, its code
 * stays plain until it's drawn again, which retries.
 */
export async function loadGrammars(names: readonly string[]): Promise<boolean> {
  const loads = names.map(name =>
    loaders.get(name)!().then(
      () => true,
      () => false,
    ),
  )
  return (await Promise.all(loads)).includes(true)
}
