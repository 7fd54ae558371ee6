/**
 * The protocol inspector, browser side. The page is like that of the Conversation view (see `../conversation/main.tsx`),
 * with `<body data-view="inspector">`, `pages.css` and `inspector.js`.
 */
import { render } from 'preact'
import type { InspectorHostMessages, InspectorMessages } from '../../bridge/inspector-messages.ts'
import { hostClient, listenToHost } from '../host/connection.ts'
import { reportFocus } from '../host/keyboard.ts'
import { startPage } from '../host/page.ts'
import { fitTheme } from '../host/theme.ts'
import { Frames } from './frames.ts'
import { InspectorView } from './view.tsx'

const connection = startPage(() => document.querySelector<HTMLElement>('input')?.focus())
fitTheme()
const host = hostClient<InspectorMessages>(connection)
const frames = new Frames(host)

listenToHost<InspectorHostMessages>(connection, {
  'inspector/state': state => frames.update(state),
  'inspector/names': names => {
    frames.names.value = names
  },
})
const checkFocus = reportFocus(hostClient(connection))
connection.listen()
render(<InspectorView frames={frames} host={host} />, document.getElementById('root')!)
frames.show({ text: '' })
checkFocus()
