import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { HistorySurface } from '../../bridge/history.ts'
import type { HistoryMessages } from '../../bridge/history-messages.ts'
import type { HostClient } from '../host/connection.ts'

/** The connection to the host, and where History is shown. */
interface HistoryContext {
  host: HostClient<HistoryMessages>
  place: HistorySurface
  /** Returns an agent's icon. */
  iconOf: (agentId: string) => string | undefined
}

const Context = createContext<HistoryContext | undefined>(undefined)
export const HistoryProvider = Context.Provider

export function useHistory(): HistoryContext {
  const context = useContext(Context)
  if (!context) throw new Error('A part of History was rendered outside of it.')
  return context
}
