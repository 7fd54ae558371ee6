/**
 * The MCP Servers page, browser side. The page is like that of the Conversation view (see `../conversation/main.tsx`),
 * with `<body data-view="mcp">`, `pages.css` and `mcp.js`.
 */
import { signal } from '@preact/signals'
import { render } from 'preact'
import type { McpState } from '../../bridge/mcp.ts'
import type { McpHostMessages, McpMessages } from '../../bridge/mcp-messages.ts'
import { hostClient, listenToHost } from '../host/connection.ts'
import { reportFocus } from '../host/keyboard.ts'
import { startPage } from '../host/page.ts'
import { fitTheme } from '../host/theme.ts'
import { McpView } from './view.tsx'

const connection = startPage(() => document.querySelector<HTMLElement>('button:not(:disabled)')?.focus())
fitTheme()
const host = hostClient<McpMessages>(connection)
const state = signal<McpState | undefined>(undefined)

listenToHost<McpHostMessages>(connection, {
  'mcp/state': update => {
    state.value = update
  },
})
const checkFocus = reportFocus(hostClient(connection))
connection.listen()
render(<McpView state={state} host={host} />, document.getElementById('root')!)
host.send('mcp/ready')
checkFocus()
