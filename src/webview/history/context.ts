import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { HistoryAction, HistoryPlace, HistoryRow } from '../../views/bridge/history.ts'

/** What History asks of its host. */
export interface HistoryHost {
  place: HistoryPlace
  act(action: HistoryAction, row: HistoryRow): void
  rename(row: HistoryRow, title: string): void
  more(agentId: string): void
  start(agentId: string): void
  signIn(agentId: string): void
  run(command: string): void
  /** Shows the setting that limits the size of all saved conversations. */
  showSizeSetting(): void
}

const HostContext = createContext<HistoryHost | undefined>(undefined)
export const HostProvider = HostContext.Provider

export function useHost(): HistoryHost {
  const host = useContext(HostContext)
  if (!host) throw new Error('A part of the history was drawn outside of it.')
  return host
}
