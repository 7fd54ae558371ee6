/**
 * The Manage Agents page, browser side. The page is like that of the Conversation view (see `../conversation/main.tsx`),
 * with `<body data-view="agents">`, `pages.css` and `agents.js`.
 */
import { signal } from '@preact/signals'
import { render } from 'preact'
import type { AgentsState } from '../../bridge/agents.ts'
import type { AgentsHostMessages, AgentsMessages } from '../../bridge/agents-messages.ts'
import { hostClient, listenToHost } from '../host/connection.ts'
import { reportFocus } from '../host/keyboard.ts'
import { startPage } from '../host/page.ts'
import { fitTheme } from '../host/theme.ts'
import { vscodeApi } from '../host/vscode-api.ts'
import { AgentsView } from './view.tsx'

const connection = startPage(() => document.querySelector<HTMLElement>('.agents-search input')?.focus())
fitTheme()
const host = hostClient<AgentsMessages>(connection)
const state = signal<AgentsState | undefined>(undefined)
const stored = vscodeApi().getState()
const search = signal(typeof stored === 'string' ? stored : '')
search.subscribe(text => vscodeApi().setState(text))

listenToHost<AgentsHostMessages>(connection, {
  'manageAgents/state': update => {
    state.value = update
  },
})
const checkFocus = reportFocus(hostClient(connection))
connection.listen()
render(<AgentsView state={state} search={search} host={host} />, document.getElementById('root')!)
host.send('manageAgents/ready')
checkFocus()
