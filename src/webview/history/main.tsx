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
import { connectToHost } from '../host/connection.ts'
import { keepFieldKeys } from '../host/field-keys.ts'
import { fitTheme } from '../host/fit-theme.ts'
import { focusOnEntry } from '../host/focus-on-entry.ts'
import { readPage } from '../host/page.ts'
import { reportFocus } from '../host/report-focus.ts'
import { historyPage } from './page.tsx'

readPage()
fitTheme()
const connection = connectToHost()
keepFieldKeys()
const wantsFocus = signal(false)
focusOnEntry(() => {
  wantsFocus.value = true
})
const lookForFocus = reportFocus(connection)
connection.listen()
const History = historyPage(connection, 'tab', wantsFocus)
render(<History />, document.getElementById('root')!)
lookForFocus()
