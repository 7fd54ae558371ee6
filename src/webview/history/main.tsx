/**
 * History in an editor tab, browser side. The page is like that of the conversation (see `../conversation/main.tsx`),
 * with `<body data-view="history">`, `history.css` and `history.js`.
 */
import { signal } from '@preact/signals'
import { render } from 'preact'
import { hostClient } from '../host/connection.ts'
import { reportFocus } from '../host/keyboard.ts'
import { startPage } from '../host/page.ts'
import { fitTheme } from '../host/theme.ts'
import { historyPage } from './page.tsx'

const wantsFocus = signal(false)
const connection = startPage(() => {
  wantsFocus.value = true
})
fitTheme()
const checkFocus = reportFocus(hostClient(connection))
connection.listen()
const History = historyPage(connection, 'tab', wantsFocus)
render(<History />, document.getElementById('root')!)
checkFocus()
