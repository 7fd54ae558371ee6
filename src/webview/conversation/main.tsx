/**
 * The Conversation view, browser side. What its page must have:
 * - `<html lang="…">` with the display language, `<body data-view="conversation">` and in it `<div id="root"></div>`;
 * - `<script type="application/json" id="l10n">{"English": "translation"}</script>` (empty for English);
 * - `<link rel="stylesheet" href="…/dist/webview/conversation.css">` and
 *   `<script type="module" nonce="…" src="…/dist/webview/conversation.js">`.
 * Its content security policy: `default-src 'none'; script-src 'nonce-…' ${cspSource}` (the grammars load from
 * `dist/webview/chunks` when they are needed), `style-src ${cspSource}`, `font-src ${cspSource}` (codicons),
 * `img-src ${cspSource} data:`, `media-src data:`. No inline styles and no `eval` are needed.
 */
import '@vscode/codicons/dist/codicon.css'
import '../styles/base.css'
import '../styles/widgets.css'
import '../styles/list.css'
import '../styles/prose.css'
import '../styles/work.css'
import '../styles/elicitation.css'
import '../styles/cancel-work.css'
import '../styles/conversation.css'
import '../styles/composer.css'
import { effect } from '@preact/signals'
import { render } from 'preact'
import {
  AnswerElicitation,
  AnswerPermission,
  Attach,
  CancelTurn,
  CancelWork,
  CardAction,
  Copy,
  FetchEntries,
  FocusComposer,
  OpenDiff,
  OpenFile,
  OpenLink,
  Patch,
  Ready,
  RunCommand,
  SaveDraft,
  SendPrompt,
  SendQueued,
  SetConfigOption,
  Snapshot,
  StartSession,
  WithdrawPrompt,
} from '../../views/bridge/conversation.ts'
import { connectToHost } from '../host/connection.ts'
import { readPage } from '../host/page.ts'
import { ListController } from '../list/controller.ts'
import { Draft } from './composer/draft.ts'
import { type App, AppProvider, type ConversationHost } from './context.ts'
import type { EntrySlot } from './slot.ts'
import { ConversationStore } from './store.ts'
import { ConversationView } from './view.tsx'

readPage()
const connection = connectToHost()
const store = new ConversationStore((key, from, to) =>
  connection.sendRequest(FetchEntries, { key, from, to }),
)
const list = new ListController(store.rows.window, { follow: true })
const draft = new Draft((key, text) => void connection.sendNotification(SaveDraft, { key, text }))

const host: ConversationHost = {
  send: (text, attachments) => connection.sendRequest(SendPrompt, { key: store.key, text, attachments }),
  withdraw: id => connection.sendRequest(WithdrawPrompt, { key: store.key, id }),
  sendQueued: () => void connection.sendNotification(SendQueued, { key: store.key }),
  cancelWork: work => void connection.sendNotification(CancelWork, { key: store.key, work }),
  cancel: () => void connection.sendNotification(CancelTurn, { key: store.key }),
  answer: (requestId, optionId) =>
    void connection.sendNotification(AnswerPermission, { key: store.key, requestId, optionId }),
  answerElicitation: (requestId, answer) =>
    void connection.sendNotification(AnswerElicitation, { key: store.key, requestId, answer }),
  setOption: (optionId, value) =>
    void connection.sendNotification(SetConfigOption, { key: store.key, optionId, value }),
  card: (cardId, buttonId) => void connection.sendNotification(CardAction, { cardId, buttonId }),
  start: agentId => void connection.sendNotification(StartSession, { agentId }),
  saveDraft: (key, text) => void connection.sendNotification(SaveDraft, { key, text }),
  openLink: href => void connection.sendNotification(OpenLink, { href }),
  openFile: (path, line) => void connection.sendNotification(OpenFile, { path, line }),
  openDiff: (entryId, content, change) =>
    void connection.sendNotification(OpenDiff, { key: store.key, entryId, content, change }),
  copy: text => void connection.sendNotification(Copy, { text }),
  run: command => void connection.sendNotification(RunCommand, { command }),
}

const app: App = {
  host,
  store,
  list,
  composer: { current: undefined },
  toggle(slot) {
    hold(slot)
    slot.open.value = !slot.open.peek()
    store.rows.changed(slot.index, slot.index + 1)
  },
  toggleRun(slots) {
    const first = slots[0]!
    hold(first)
    const open = store.openState(`run/${first.id}`)
    open.value = !open.peek()
    store.rows.changed(first.index, first.index + slots.length)
  },
}

function hold(slot: EntrySlot): void {
  const rows = store.rows.rowsOf(slot.index)
  const row = rows.find(one => 'slot' in one && one.slot === slot) ?? rows[0]
  if (row) list.hold(row)
}

list.onRange = ({ start, end }) => {
  const missing = store.rows.window.items.slice(start, end).filter(row => row.kind === 'missing')
  const first = missing[0]
  const last = missing.at(-1)
  if (first && last) store.need(first.entryIndex, last.entryIndex + 1)
}

connection.onNotification(Snapshot, snapshot => {
  const another = snapshot.head.key !== store.key
  store.applySnapshot(snapshot)
  draft.show(snapshot.head.key, snapshot.draft, snapshot.head.keyBefore)
  if (another) list.toEnd()
})
connection.onNotification(Patch, patch => {
  if (!store.applyPatch(patch)) void connection.sendNotification(Ready)
})
connection.onNotification(Attach, attachment => app.composer.current?.attach(attachment))
connection.onNotification(FocusComposer, () => app.composer.current?.focus())
connection.listen()

effect(() => {
  document.body.dataset.phase = store.head.value?.phase ?? ''
})

render(
  <AppProvider value={app}>
    <ConversationView draft={draft} />
  </AppProvider>,
  document.getElementById('root')!,
)
void connection.sendNotification(Ready)
