/**
 * The Conversation view, browser side. Its page must have:
 * - `<html lang="…">` with the display language, `<body data-view="conversation">` and in it `<div id="root"></div>`;
 * - `<script type="application/json" id="l10n">{"English": "translation"}</script>` (empty for English);
 * - a `style` element with `dist/webview/conversation.css`, whose URLs are absolute;
 * - `<template id="files" data-script="…/dist/webview/conversation.js">`, which tells where the other styles are;
 * - possibly `<div id="preview">` (see `page-preview.ts`), which is removed when the conversation is displayed.
 * Its content security policy: `default-src 'none'; script-src 'nonce-…' ${cspSource}` (the grammars load from
 * `dist/webview/chunks` when they are needed), `style-src 'nonce-…' ${cspSource}` (the composer's editor; diagrams, while
 * they are drawn), `font-src ${cspSource}` (codicons),
 * `img-src ${cspSource} data:`, `media-src data:`. No inline styles and no `eval` are needed.
 */
import { effect, signal } from '@preact/signals'
import { render } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import type { ActiveContext, EditedPromptsShown } from '../../bridge/conversation.ts'
import type { ConversationHostMessages, ConversationMessages } from '../../bridge/conversation-messages.ts'
import type { ViewPage } from '../../bridge/history.ts'
import { hostClient, listenToHost } from '../host/connection.ts'
import { reportFocus } from '../host/keyboard.ts'
import { startPage } from '../host/page.ts'
import { createThemeFollower, fitTheme } from '../host/theme.ts'
import { whenIdle } from '../host/when-idle.ts'
import { ListController } from '../list/controller.ts'
import type { Range } from '../list/window.ts'
import { lazy, loadStyles } from '../ui/lazy.tsx'
import { composerListeners } from './actions/selection-actions.ts'
import { Draft } from './composer/draft.ts'
import { restoreHeight } from './composer/resize-handle.tsx'
import { sendKey } from './composer/send-key.ts'
import { type App, AppProvider, editKey } from './context.ts'
import { FindLoader, findListeners } from './find/find-loader.ts'
import { navigationListeners } from './navigation/navigation.ts'
import { firstEntry, lastEntry } from './row.ts'
import { loadPermission } from './rows/row-view.tsx'
import type { EntrySlot } from './slot.ts'
import { ConversationStore } from './store.ts'
import { ConversationView } from './view.tsx'
import { createWork } from './work/work-model.ts'

const connection = startPage(() => {
  if (app.page.peek() === 'history') historyWantsFocus.value = true
  else app.composer.current?.focus()
})
const host = hostClient<ConversationMessages>(connection, () => store.key)
const store: ConversationStore = new ConversationStore(
  (key, from, to) => host.request('conversation/entries', { key, from, to }),
  ids => host.send('conversation/terminals', { ids }),
  ids => host.send('conversation/toolCalls', { ids }),
)
/** The height of `.turn-prompt` in CSS pixels. */
const TURN_PROMPT_HEIGHT = 28
const list = new ListController(store.rows.window, { follow: true, cover: TURN_PROMPT_HEIGHT })
store.rows.focusedRow = () => list.rows.focused
const draft = new Draft({
  saveText: (key, text, chips) => host.request('conversation/draft', { key, text, chips }),
  saveItems: (key, items) => host.send('conversation/draftItems', { key, items }),
  enqueue: (key, prompt, joins) =>
    host.request('conversation/enqueue', { key, ...prompt, ...(joins && { joins }) }),
  movedToComposer: (key, ids, draft) => host.request('conversation/movedToComposer', { key, ids, draft }),
})

const { listeners: workListeners, ...work } = createWork()
const app = {
  host,
  store,
  list,
  work,
  page: signal<ViewPage>('conversation'),
  activeContext: signal<ActiveContext>({ automatic: false }),
  editing: signal(''),
  recalled: '',
  editsRound: -1,
  edits: new Map(),
  composer: { current: undefined },
  toggle(slot: EntrySlot) {
    hold(slot)
    slot.open.value = !slot.open.peek()
    // the last lines of a command stay hidden after they were collapsed
    if (!slot.open.peek()) store.expansion.state(`closed/${slot.id}`).value = true
    store.rows.changed(slot.index, slot.index + 1)
  },
  toggleRun(slots: readonly EntrySlot[]) {
    const first = slots[0]!
    hold(first)
    const open = store.expansion.run(first.id)
    open.value = !open.peek()
    if (!open.peek()) for (const slot of slots) slot.open.value = false
    store.rows.changed(first.index, first.index + slots.length)
  },
  toggleTurn(end) {
    const row = store.rows.turnRowOf(end.index)
    if (row) list.hold(row)
    store.setFolded(end, !store.expansion.isFolded(end))
  },
  toggleAside(row) {
    list.hold(row)
    const aside = store.expansion.asideAt(row.entryIndex)
    if (aside) store.setAsideShown(aside, !store.expansion.asideState(aside.id).peek())
  },
  hideWork(subagent, hidden) {
    hold(subagent)
    store.setHidden(subagent.work!, hidden)
  },
} as App

app.find = new FindLoader(app)
const checkFocus = reportFocus(hostClient(connection))

const historyWantsFocus = signal(false)
/** Loads History, while the page in the side bar is idle, since loading takes longer than rendering. */
const loadHistory = () => Promise.all([import('../history/page.tsx'), loadStyles('later')])
const History = lazy(async () => {
  const [{ historyPage }] = await loadHistory()
  return historyPage(connection, 'sideBar', historyWantsFocus)
})
function HistoryInPlace() {
  const isShown = app.page.value === 'history'
  // only after History is removed: removing the focused element would compute styles of elements that are about to be replaced
  useLayoutEffect(() => {
    if (!isShown) hideConversation(false)
  }, [isShown])
  return isShown ? <History /> : null
}

function hideConversation(isHidden: boolean): void {
  const conversation = document.querySelector<HTMLElement>('main.conversation')
  if (conversation) conversation.inert = isHidden
}

let hasEdits = false
/**
 * Restores the user's unfinished edits of prompts in this conversation, with the editor of the latest open; none while the host doesn't
 * know their entries. Within a round, the page's edits are newer than the host's.
 */
function showEdits(app: App, { round, prompts }: EditedPromptsShown, another: boolean): void {
  const isSame = round === app.editsRound && !another
  if (isSame && (hasEdits || !prompts)) return
  hasEdits = prompts !== undefined
  if (!isSame) {
    app.editsRound = round
    app.edits.clear()
    app.recalled = ''
    app.editing.value = ''
  }
  for (const { entryId, ...stored } of prompts ?? []) app.edits.set(editKey(app.store, entryId), stored)
  const last = prompts?.at(-1)
  if (last && app.editing.peek() === '') app.editing.value = editKey(app.store, last.entryId)
}

function hold(slot: EntrySlot): void {
  const rows = store.rows.rowsOf(slot.index)
  const row = rows.find(one => 'slot' in one && one.slot === slot) ?? rows[0]
  if (row) list.hold(row)
}

/** Number of rows before and after the rows in the page whose entries are fetched in advance. */
const ROWS_AHEAD = 150

/** Fetches the current entries of the rows in the page and near it. */
function fetchSeen({ start, end }: Range): void {
  const near = list.following.peek() ? 0 : ROWS_AHEAD
  const rows = store.rows.window.items.slice(Math.max(0, start - near), end + near)
  const first = rows[0]
  const last = rows.at(-1)
  if (first && last) store.need(firstEntry(first), lastEntry(last) + 1)
}
let seen: Range = { start: 0, end: 0 }
/** whether the page has only the end of the conversation */
let isPart = false
list.drawn.onRange = range => {
  seen = range
  fetchSeen(range)
}

/** The time without changes after which a preview is taken, in milliseconds. */
const PREVIEW_DELAY_MS = 1000
let resting: ReturnType<typeof setTimeout> | undefined

/** Takes a preview for the next opening of the page, once the conversation stops changing. */
function previewSoon(): void {
  clearTimeout(resting)
  resting = setTimeout(async () => {
    const { takePreview } = await import('./preview.ts')
    const head = store.head.peek()
    const rests = (head?.phase === 'ready' || head?.phase === 'ended') && head.activity === 'idle'
    if (!rests || !list.atEnd.peek() || app.page.peek() !== 'conversation') return
    const preview = takePreview()
    if (preview) host.send('conversation/preview', { revision: store.revision, preview })
  }, PREVIEW_DELAY_MS)
}

const theme = createThemeFollower(host)
listenToHost<ConversationHostMessages>(connection, {
  ...workListeners,
  ...findListeners(app.find),
  ...navigationListeners(app),
  ...composerListeners(app),
  ...theme.listeners,
  'conversation/snapshot': snapshot => {
    if (snapshot.leavesHistory) app.page.value = 'conversation'
    const another = snapshot.head.key !== store.key
    if (store.key === '') restoreHeight(snapshot.composerHeight)
    store.applySnapshot(snapshot)
    draft.show(snapshot.head.key, snapshot.draft, snapshot.returned, snapshot.head.keyBefore)
    showEdits(app, snapshot.edits ?? { round: 0, prompts: [] }, another)
    if (another) list.toEnd()
    // the visible rows change once the entries before the end have their rows
    else if (isPart) requestAnimationFrame(() => fetchSeen(seen))
    else fetchSeen(seen)
    isPart = snapshot.more === true
    app.find.shown?.conversationShown()
    previewSoon()
    if (snapshot.more) requestAnimationFrame(() => setTimeout(() => host.send('conversation/drawn')))
  },
  'conversation/patch': patch => {
    if (!store.applyPatch(patch)) host.send('conversation/ready', { isShown: false })
    checkFocus()
    previewSoon()
  },
  'conversation/returnPrompts': ({ key, prompts }) => draft.returned(key, prompts),
  'conversation/attach': attachment => app.composer.current?.attach(attachment),
  'composer/comment': ({ key, id, item }) => draft.putComment(key, id, item),
  'composer/sendTo': () => app.composer.current?.sendTo(),
  'composer/sent': sent => draft.sentElsewhere(sent),
  'composer/activeContext': context => {
    app.activeContext.value = context
  },
  'composer/sendKey': ({ key }) => {
    sendKey.value = key
  },
  'view/page': ({ page, focus }) => {
    // hide the conversation before History is measured
    if (page === 'history') hideConversation(true)
    app.page.value = page
    historyWantsFocus.value = page === 'history' && focus
    whenIdle(() => void loadHistory())
  },
  'view/sound': ({ kind }) => void import('./sound.ts').then(({ playSound }) => playSound(kind)),
  'conversation/focus': () => app.composer.current?.focus(),
})
connection.listen()
theme.start()
fitTheme()

// remove the preview exactly when the rows are displayed, so that the conversation is never visible twice or missing for a moment
let preview = document.getElementById('preview')
effect(() => {
  if (!store.head.value || (store.total.value > 0 && list.drawn.range.value.end === 0)) return
  preview?.remove()
  preview = null
})
effect(() => {
  if (store.head.value && store.head.value.activity !== 'idle') void loadPermission().catch(() => undefined)
})
effect(() => {
  document.body.dataset.phase = store.head.value?.phase ?? ''
})

// messages sent while the files were loading are handled first; after that, only missing data is requested
setTimeout(() => setTimeout(() => host.send('conversation/ready', { isShown: store.key !== '' })))
render(
  <AppProvider value={app}>
    <ConversationView draft={draft} />
    <HistoryInPlace />
  </AppProvider>,
  document.getElementById('root')!,
)
whenIdle(async () => {
  const { passOnFocus } = await import('./navigation/removed-focus.ts')
  passOnFocus(document.querySelector('main.conversation')!, () => app.composer.current?.focus())
})
checkFocus()
