import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { HistoryRow } from '../../views/bridge/history.ts'

/** What the History view asks of its host. */
export interface HistoryHost {
  act(action: 'load' | 'resume' | 'close' | 'show' | 'delete' | 'fork', row: HistoryRow): void
  more(agentId: string): void
  start(agentId: string): void
  run(command: string): void
}

const HostContext = createContext<HistoryHost | undefined>(undefined)
export const HostProvider = HostContext.Provider

export function useHost(): HistoryHost {
  const host = useContext(HostContext)
  if (!host) throw new Error('A part of the history was drawn outside of it.')
  return host
}
