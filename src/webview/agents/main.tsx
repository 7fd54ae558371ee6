/**
 * The Manage Agents page, browser side. Its page is like that of the Conversation view (see `../conversation/main.tsx`),
 * with `<body data-view="agents">`, `agents.css` and `agents.js`.
 */
import '@vscode/codicons/dist/codicon.css'
import '../styles/base.css'
import '../styles/widgets.css'
import '../styles/search-box.css'
import '../styles/offers.css'
import '../styles/agents.css'
import { signal } from '@preact/signals'
import { render } from 'preact'
import {
  AgentsAct,
  AgentsReady,
  AgentsRefresh,
  type AgentsState,
  AgentsUpdate,
} from '../../views/bridge/agents.ts'
import { connectToHost } from '../host/connection.ts'
import { keepFieldKeys } from '../host/field-keys.ts'
import { fitTheme } from '../host/fit-theme.ts'
import { focusOnEntry } from '../host/focus-on-entry.ts'
import { readPage } from '../host/page.ts'
import { vscodeApi } from '../host/vscode-api.ts'
import { type AgentsHost, AgentsView } from './view.tsx'

readPage()
fitTheme()
const connection = connectToHost()
const state = signal<AgentsState | undefined>(undefined)
const kept = vscodeApi().getState()
const search = signal(typeof kept === 'string' ? kept : '')
search.subscribe(text => vscodeApi().setState(text))

const host: AgentsHost = {
  act: (action, { key }) => void connection.sendNotification(AgentsAct, { action, key }),
  refresh: () => void connection.sendNotification(AgentsRefresh),
}

connection.onNotification(AgentsUpdate, update => {
  state.value = update
})
keepFieldKeys()
focusOnEntry(() => document.querySelector<HTMLElement>('.agents-search input')?.focus())
connection.listen()
render(<AgentsView state={state} search={search} host={host} />, document.getElementById('root')!)
void connection.sendNotification(AgentsReady)
