/**
 * The History view, browser side. Its page is like that of the Conversation view (see `../conversation/main.tsx`), with
 * `<body data-view="history">`, `history.css` and `history.js`.
 */
import '@vscode/codicons/dist/codicon.css'
import '../styles/base.css'
import '../styles/widgets.css'
import '../styles/list.css'
import '../styles/history.css'
import { effect, signal } from '@preact/signals'
import { render } from 'preact'
import {
  HistoryAct,
  HistoryCommand,
  HistoryMore,
  HistoryReady,
  HistoryStartAgent,
  type HistoryState,
  HistoryUpdate,
} from '../../views/bridge/history.ts'
import { connectToHost } from '../host/connection.ts'
import { readPage } from '../host/page.ts'
import { vscodeApi } from '../host/vscode-api.ts'
import { type HistoryHost, HostProvider } from './context.ts'
import { HistoryView } from './view.tsx'

readPage()
const connection = connectToHost()
const state = signal<HistoryState | undefined>(undefined)
const filter = signal(keptFilter())

effect(() => vscodeApi().setState(filter.value))

const host: HistoryHost = {
  act: (action, { agentId, sessionId }) =>
    void connection.sendNotification(HistoryAct, { action, agentId, sessionId }),
  more: agentId => void connection.sendNotification(HistoryMore, { agentId }),
  start: agentId => void connection.sendNotification(HistoryStartAgent, { agentId }),
  run: command => void connection.sendNotification(HistoryCommand, { command }),
}

function keptFilter(): { text: string; here: boolean } {
  const kept = vscodeApi().getState()
  const isFilter = typeof kept === 'object' && kept !== null && 'text' in kept && 'here' in kept
  return isFilter ? { text: String(kept.text), here: kept.here === true } : { text: '', here: false }
}

connection.onNotification(HistoryUpdate, update => {
  state.value = update
})
connection.listen()
render(
  <HostProvider value={host}>
    <HistoryView state={state} filter={filter} />
  </HostProvider>,
  document.getElementById('root')!,
)
void connection.sendNotification(HistoryReady)
