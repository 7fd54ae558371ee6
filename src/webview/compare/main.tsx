/**
 * The page that compares agents, browser side. The page is like that of the Conversation view (see
 * `../conversation/main.tsx`), with `<body data-view="compare">`, `pages.css` and `compare.js`.
 */
import { signal } from '@preact/signals'
import { render } from 'preact'
import type { ComparedFiles, CompareState } from '../../bridge/compare.ts'
import type { CompareHostMessages, CompareMessages } from '../../bridge/compare-messages.ts'
import { hostClient, listenToHost } from '../host/connection.ts'
import { reportFocus } from '../host/keyboard.ts'
import { startPage } from '../host/page.ts'
import { fitTheme } from '../host/theme.ts'
import { announceStates, CompareView } from './view.tsx'

const connection = startPage(() => document.querySelector<HTMLElement>('button:not(:disabled)')?.focus())
fitTheme()
const host = hostClient<CompareMessages>(connection)
const state = signal<CompareState | undefined>(undefined)
const files = signal<ReadonlyMap<number, ComparedFiles>>(new Map())

listenToHost<CompareHostMessages>(connection, {
  'compare/state': update => {
    const before = state.peek()?.comparison
    if (before?.id !== update.comparison?.id) files.value = new Map()
    else announceStates(before, update.comparison)
    state.value = update
  },
  'compare/files': ({ id, agent, files: changed }) => {
    if (id === state.peek()?.comparison?.id) files.value = new Map(files.peek()).set(agent, changed)
  },
})
const checkFocus = reportFocus(hostClient(connection))
connection.listen()
render(<CompareView state={state} files={files} host={host} />, document.getElementById('root')!)
host.send('compare/ready')
checkFocus()
