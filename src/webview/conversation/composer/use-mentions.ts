import { useEffect, useState } from 'preact/hooks'
import type { MentionRow } from '../../../views/bridge/conversation.ts'
import { useApp } from '../context.ts'

/** Symbols are looked for when the typing rests, in milliseconds: every search may cost a language server seconds. */
const rest = 150

export interface FoundMentions {
  rows: readonly MentionRow[]
  /** Not all has come that may come. */
  searching: boolean
  /** They were found for the query before. */
  isStale: boolean
}

interface FoundFor extends Omit<FoundMentions, 'isStale'> {
  query: string | undefined
}

const none: FoundFor = { rows: [], searching: false, query: undefined }

/**
 * What `@` offers for a query; `undefined` asks for nothing. What was found for the query before stays until something
 * else was found, so that the list does not flicker. A query that begins with `#` is for symbols alone.
 */
export function useMentions(query: string | undefined): FoundMentions {
  const { host } = useApp()
  const [found, setFound] = useState<FoundFor>(none)
  useEffect(() => {
    if (query === undefined) return setFound(none)
    let over = false
    const onlySymbols = query.startsWith('#')
    const name = onlySymbols ? query.slice(1) : query
    const takeSymbols = (before: readonly MentionRow[]) => {
      const timer = setTimeout(async () => {
        const symbols = await host.request('composer/symbols', { query: name }).catch(() => [])
        if (!over) setFound({ rows: [...before, ...symbols], searching: false, query })
      }, rest)
      stop = () => clearTimeout(timer)
    }
    let stop = () => {}
    // without a name: those of the active file
    const withSymbols = name.length !== 1 && !/[/\\:]/.test(name)
    if (onlySymbols) {
      setFound(({ rows }) => ({
        rows: rows.filter(row => row.group === 'symbols'),
        searching: true,
        query: undefined,
      }))
      if (withSymbols) takeSymbols([])
      else setFound({ ...none, query })
    } else {
      setFound(({ rows }) => ({ rows, searching: true, query: undefined }))
      host.request('composer/mentions', { query }).then(
        rows => {
          if (over) return
          setFound({ rows, searching: withSymbols, query })
          if (withSymbols) takeSymbols(rows)
        },
        () => !over && setFound({ ...none, query }),
      )
    }
    return () => {
      over = true
      stop()
    }
  }, [query, host])
  const { rows, searching } = query === undefined ? none : found
  return { rows, searching, isStale: found.query !== query }
}
