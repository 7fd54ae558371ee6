/**
 * History in an editor tab, browser side. Its page is like that of the conversation (see `../conversation/main.tsx`), with
 * `<body data-view="history">`, `history.css` and `history.js`.
 */
import '@vscode/codicons/dist/codicon.css'
import '../styles/base.css'
import '../styles/widgets.css'
import '../styles/list.css'
import '../styles/search-box.css'
import '../styles/history.css'
import '../styles/session-title.css'
import { signal } from '@preact/signals'
import { render } from 'preact'
import { hostClient } from '../host/connection.ts'
import { fitTheme } from '../host/fit-theme.ts'
import { reportFocus } from '../host/focus.ts'
import { startPage } from '../host/page.ts'
import { historyPage } from './page.tsx'

const wantsFocus = signal(false)
const connection = startPage(() => {
  wantsFocus.value = true
})
fitTheme()
const lookForFocus = reportFocus(hostClient(connection))
connection.listen()
const History = historyPage(connection, 'tab', wantsFocus)
render(<History />, document.getElementById('root')!)
lookForFocus()
