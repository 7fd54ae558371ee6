/**
 * The History view, browser side. Its page is like that of the Conversation view (see `../conversation/main.tsx`), with
 * `<body data-view="history">`, `history.css` and `history.js`.
 */
import '@vscode/codicons/dist/codicon.css'
import '../styles/base.css'
import '../styles/widgets.css'
import '../styles/list.css'
import '../styles/search-box.css'
import '../styles/history.css'
import '../styles/session-title.css'
import { effect, signal } from '@preact/signals'
import { render } from 'preact'
import {
  HistoryAct,
  HistoryAsk,
  HistoryCommand,
  HistoryMore,
  HistoryReady,
  HistoryRename,
  HistorySignIn,
  HistorySize,
  HistoryStartAgent,
  type HistoryState,
  HistoryUpdate,
} from '../../views/bridge/history.ts'
import { connectToHost } from '../host/connection.ts'
import { keepFieldKeys } from '../host/field-keys.ts'
import { fitTheme } from '../host/fit-theme.ts'
import { focusOnEntry } from '../host/focus-on-entry.ts'
import { readPage } from '../host/page.ts'
import { vscodeApi } from '../host/vscode-api.ts'
import { type HistoryHost, HostProvider } from './context.ts'
import { type HistoryFilter, type RowQuestion, rowKey } from './items.ts'
import { HistoryView } from './view.tsx'

readPage()
fitTheme()
const connection = connectToHost()
const state = signal<HistoryState | undefined>(undefined)
const filter = signal(keptFilter())
const asked = signal<RowQuestion | undefined>(undefined)

effect(() => vscodeApi().setState(filter.value))

const host: HistoryHost = {
  act: (action, { agentId, sessionId }) =>
    void connection.sendNotification(HistoryAct, { action, agentId, sessionId }),
  rename: ({ agentId, sessionId }, title) =>
    void connection.sendNotification(HistoryRename, { agentId, sessionId, title }),
  more: agentId => void connection.sendNotification(HistoryMore, { agentId }),
  start: agentId => void connection.sendNotification(HistoryStartAgent, { agentId }),
  signIn: agentId => void connection.sendNotification(HistorySignIn, { agentId }),
  run: command => void connection.sendNotification(HistoryCommand, { command }),
  showSizeSetting: () => void connection.sendNotification(HistorySize),
}

function keptFilter(): HistoryFilter {
  const state = vscodeApi().getState()
  const kept: Record<string, unknown> = typeof state === 'object' && state !== null ? { ...state } : {}
  const text = typeof kept.text === 'string' ? kept.text : ''
  return { text, here: kept.here === true, archived: kept.archived === true }
}

connection.onNotification(HistoryUpdate, update => {
  state.value = update
})
connection.onNotification(HistoryAsk, ({ what, ...row }) => {
  asked.value = { what, key: rowKey(row) }
})
keepFieldKeys()
focusOnEntry(() => document.querySelector<HTMLElement>('.history-search input')?.focus())
connection.listen()
render(
  <HostProvider value={host}>
    <HistoryView state={state} filter={filter} asked={asked} />
  </HostProvider>,
  document.getElementById('root')!,
)
void connection.sendNotification(HistoryReady)
