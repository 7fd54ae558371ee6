import { useEffect, useState } from 'preact/hooks'
import type { MentionRow } from '../../../bridge/conversation.ts'
import { useApp } from '../context.ts'

/** Delay before searching for symbols, in milliseconds, since each search may cost a language server seconds. */
const SYMBOL_DELAY_MS = 150

export interface FoundMentions {
  rows: readonly MentionRow[]
  /** whether more results may follow */
  searching: boolean
  /** whether the results are for the previous query */
  isStale: boolean
}

interface FoundFor extends Omit<FoundMentions, 'isStale'> {
  query: string | undefined
}

const none: FoundFor = { rows: [], searching: false, query: undefined }

/**
 * Returns the suggestions for an `@` query; none for `undefined`. The results of the previous query stay until new results
 * arrive, so that the list doesn't flicker. A query that starts with `#` searches only for symbols.
 */
export function useMentions(query: string | undefined): FoundMentions {
  const { host, store } = useApp()
  const [found, setFound] = useState<FoundFor>(none)
  useEffect(() => {
    if (query === undefined) return setFound(none)
    let over = false
    let stop = () => {}
    const onlySymbols = query.startsWith('#')
    const name = onlySymbols ? query.slice(1) : query
    let shown: readonly MentionRow[] = []
    let awaited = 0
    const add = async (more: Promise<MentionRow[]>) => {
      const added = await more.catch(() => [])
      awaited -= 1
      shown = [...shown, ...added]
      if (!over) setFound({ rows: shown, searching: awaited > 0, query })
    }
    const takeSymbols = () => {
      awaited += 1
      const timer = setTimeout(() => add(host.request('composer/symbols', { query: name })), SYMBOL_DELAY_MS)
      stop = () => clearTimeout(timer)
    }
    // an empty name finds the symbols of the active file
    const withSymbols = name.length !== 1 && !/[/\\:]/.test(name)
    if (onlySymbols) {
      setFound(({ rows }) => ({
        rows: rows.filter(row => row.group === 'symbols'),
        searching: true,
        query: undefined,
      }))
      if (withSymbols) takeSymbols()
      else setFound({ ...none, query })
    } else {
      setFound(({ rows }) => ({ rows, searching: true, query: undefined }))
      host.request('composer/mentions', { query }).then(
        rows => {
          if (over) return
          shown = rows
          setFound({ rows, searching: true, query })
          if (query !== '') {
            awaited += 1
            void add(host.request('composer/revisions', { query }))
          }
          const key = store.head.peek()?.key
          if (key !== undefined) {
            awaited += 1
            void add(host.request('composer/sessions', { key, query }))
          }
          if (withSymbols) takeSymbols()
        },
        () => !over && setFound({ ...none, query }),
      )
    }
    return () => {
      over = true
      stop()
    }
  }, [query, host, store])
  const { rows, searching } = query === undefined ? none : found
  return { rows, searching, isStale: found.query !== query }
}
