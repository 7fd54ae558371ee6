// The page of a window without a workbench: draws what the extension host reports, and reports what the person does.
// Names and classes are those of VS Code's workbench, so that tests find the same elements in both.
const query = new URLSearchParams(location.search)
const looks = await (await fetch('themes.json')).json()
const byClass = name => document.querySelector(`.${name}`)
const frames = new Map()
let waiting = Promise.resolve()

/** Messages arrive in order. */
const tell = event => {
  const body = JSON.stringify(event)
  waiting = waiting.then(() => fetch('event', { method: 'POST', body })).catch(() => {})
}

/** The theme of the window, and of each webview when it loads. */
const wear = kind => {
  globalThis.look = looks[kind]
  document.documentElement.style.cssText = looks[kind].style
  document.body.className = `monaco-workbench ${looks[kind].workbench}`
  for (const { frame } of frames.values()) frame.contentWindow?.wearLook?.(looks[kind])
}
globalThis.setTheme = wear
wear(query.get('theme') ?? 'dark')

const element = (name, className, text, attributes = {}) => {
  const created = document.createElement(name)
  if (className) created.className = className
  if (text !== undefined) created.textContent = text
  for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, value)
  return created
}
const button = (text, press) => {
  const created = element('button', 'monaco-button', text)
  created.addEventListener('click', press)
  return created
}
/** The parts of the window as they are drawn. */
const drawn = new Map()
/** Whether a part has to be drawn again: a click is lost if the element on which it began is replaced. */
const isChanged = (part, shown) => {
  const now = JSON.stringify(shown)
  if (drawn.get(part) === now) return false
  drawn.set(part, now)
  return true
}
const withoutIcons = text => text.replace(/\$\([\w~-]+\)\s?/g, '')

addEventListener('message', ({ data }) => {
  if (data?.webview && frames.has(data.webview)) tell(data)
})

function drawWebviews({ webviews, tabs }) {
  const shown = new Set(webviews.map(({ id }) => id))
  for (const [id, { frame }] of frames)
    if (!shown.has(id)) {
      frame.remove()
      frames.delete(id)
    }
  for (const { id, version, place, isVisible, focus } of webviews) {
    let entry = frames.get(id)
    if (!entry) {
      entry = { frame: element('iframe', 'webview', undefined, { title: id }), version: -1, focus: 0 }
      entry.frame.addEventListener('load', () => entry.version > 0 && tell({ type: 'loaded', webview: id }))
      frames.set(id, entry)
      document.body.append(entry.frame)
    }
    const { frame } = entry
    if (entry.version !== version) {
      entry.version = version
      frame.src = version > 0 ? `/webview/${id}/${version}` : 'about:blank'
    }
    frame.hidden = !isVisible
    const tab = tabs.find(({ webview }) => webview === id)
    const ground =
      place === 'sideBar'
        ? byClass('sidebar')
        : document.querySelector(`[data-group="${tab?.group}"] .content`)
    const box = ground?.getBoundingClientRect()
    if (box && isVisible)
      Object.assign(frame.style, {
        left: `${box.left}px`,
        top: `${box.top}px`,
        width: `${box.width}px`,
        height: `${box.height}px`,
      })
    if (entry.focus !== focus) {
      entry.focus = focus
      frame.focus()
    }
  }
}

function drawTabs({ tabs }) {
  if (!isChanged('tabs', tabs)) return
  const editor = byClass('editor')
  const groups = [...new Set(tabs.map(({ group }) => group))].sort()
  editor.replaceChildren(
    ...groups.map(group => {
      const created = element('div', 'group editor-group-container', undefined, { 'data-group': group })
      const container = element('div', 'tabs-container', undefined, { role: 'tablist' })
      const content = element('div', 'content')
      for (const tab of tabs.filter(one => one.group === group)) {
        const { id, title, icon, isActive, isDirty, texts = [] } = tab
        const one = element('div', `tab${isActive ? ' active' : ''}${isDirty ? ' dirty' : ''}`, undefined, {
          role: 'tab',
          'aria-label': title,
          'aria-selected': isActive,
        })
        if (icon) one.append(element('img', '', undefined, { src: `/extension/media/${icon}`, alt: '' }))
        one.append(element('span', 'label-name', title))
        one.append(element('button', 'codicon-close', '×', { 'aria-label': `Close ${title}` }))
        one.addEventListener('click', ({ target }) =>
          tell({ type: target.matches('.codicon-close') ? 'closeTab' : 'selectTab', id }),
        )
        container.append(one)
        if (isActive)
          for (const text of texts) {
            const lines = element('pre', 'monaco-editor')
            for (const line of text.split('\n')) lines.append(element('div', 'view-line', line || ' '))
            content.append(lines)
          }
      }
      created.append(container, content)
      return created
    }),
  )
}

/** The drawn notifications and dialogs by id. Only what changed is drawn again, since the focus would be lost. */
const boxes = new Map()
function drawNotifications({ notifications }) {
  const shown = new Map(notifications.map(one => [one.id, one]))
  for (const [id, { box, drawn }] of boxes) {
    if (JSON.stringify(shown.get(id)) === drawn) continue
    box.remove()
    boxes.delete(id)
  }
  for (const notification of notifications) {
    if (boxes.has(notification.id)) continue
    const box = notificationBox(notification)
    boxes.set(notification.id, { box, drawn: JSON.stringify(notification) })
    byClass('notifications').append(box)
    if (notification.isModal) box.querySelector('button').focus()
  }
}

function notificationBox({ id, kind, text, buttons, isModal, detail }) {
  const box = element('div', isModal ? 'monaco-dialog-box' : 'notification-toast', undefined, {
    role: isModal ? 'dialog' : 'alert',
    'data-kind': kind,
  })
  const message = element('div', 'notification-list-item-message')
  // links that run commands
  for (const part of text.split(/(\[[^\]]*\]\(command:[^)]*\))/)) {
    const [, name, link] = /^\[(.*)\]\((command:.*)\)$/.exec(part) ?? []
    const run = name && element('a', '', name, { href: '#' })
    run?.addEventListener('click', event => {
      event.preventDefault()
      tell({ type: 'command', link })
    })
    message.append(run ?? part)
  }
  box.append(message)
  if (detail) box.append(element('div', 'dialog-message-detail', detail))
  const answer = name => () => tell({ type: 'notification', id, button: name })
  for (const name of buttons) box.append(button(name, answer(name)))
  if (isModal) {
    box.append(button('Cancel', answer(undefined)))
    box.addEventListener('keydown', ({ key }) => key === 'Escape' && answer(undefined)())
  } else if (kind !== 'progress') {
    const clear = button('×', answer(undefined))
    clear.setAttribute('aria-label', 'Clear Notification (Delete)')
    box.append(clear)
  }
  return box
}

/** The open quick input: its text, and which row is marked, are the page's own. */
let open
/** The list that the person closed by choosing from it. */
let accepted
function drawInput({ input }) {
  if (!input || input.id === accepted) {
    if (!open) return
    open.widget.remove()
    open.before?.focus?.()
    open = undefined
    return
  }
  if (open?.id !== input.id) {
    const before = open ? open.before : document.activeElement
    open?.widget.remove()
    const widget = element('div', 'quick-input-widget', undefined, {
      role: 'dialog',
      'aria-label': 'Quick Input',
    })
    const field = element('input', 'input', undefined, { type: input.isPassword ? 'password' : 'text' })
    open = {
      ...{ id: input.id, widget, field, before, marked: undefined },
      title: element('div', 'quick-input-title'),
      message: element('div', 'quick-input-message'),
      list: element('div', 'quick-input-list', undefined, { role: 'listbox' }),
      picked: undefined,
    }
    const head = element('div', 'quick-input-titlebar')
    const back = button('←', () => tell({ type: 'cancel', id: input.id, isBack: true }))
    back.setAttribute('aria-label', 'Back')
    back.classList.add('quick-input-back')
    head.append(back, open.title)
    const confirm = button('OK', () => accept())
    widget.append(head, field, open.message, open.list, confirm)
    field.value = input.value
    field.addEventListener('input', () => {
      open.marked = undefined
      tell({ type: 'input', id: open.id, value: field.value })
      drawRows()
    })
    widget.addEventListener('keydown', onKey)
    document.body.append(widget)
    field.focus()
    if (input.value) field.select()
  }
  open.input = input
  open.title.textContent = input.title
  open.field.placeholder = input.placeholder
  open.message.textContent = input.problem || input.prompt
  open.widget.querySelector('.quick-input-back').hidden = !input.hasBack
  open.widget.lastChild.hidden = !input.canPickMany
  drawRows()
}

function listedRows() {
  const { input, field } = open
  const wanted = field.value.trim().toLowerCase()
  const { description, detail } = input.filters
  return (input.rows ?? []).filter(row => {
    if (row.isSeparator) return wanted === ''
    const texts = [row.label, description ? row.description : '', detail ? row.detail : '']
    return (
      wanted === '' ||
      texts.some(text =>
        withoutIcons(text ?? '')
          .toLowerCase()
          .includes(wanted),
      )
    )
  })
}

function drawRows() {
  const { input, list } = open
  if (!input.rows) return
  const rows = listedRows()
  const choices = rows.filter(({ isSeparator }) => !isSeparator)
  open.picked ??= input.canPickMany && new Set(choices.flatMap(row => (row.isPicked ? row.index : [])))
  if (open.marked === undefined || open.suggested !== input.marked) open.marked = input.marked
  open.suggested = input.marked
  if (!choices.some(({ index }) => index === open.marked)) open.marked = choices[0]?.index
  if (!isChanged('rows', [open.id, rows, open.marked, [...(open.picked || [])]])) return
  let at = -1
  list.replaceChildren(
    ...rows.map(row => {
      if (row.isSeparator) return element('div', 'quick-input-list-separator', row.label)
      at++
      const created = element(
        'div',
        `monaco-list-row${row.index === open.marked ? ' focused' : ''}`,
        undefined,
        {
          role: 'option',
          'data-index': at,
          'aria-label': withoutIcons([row.label, row.description, row.detail].filter(Boolean).join(', ')),
        },
      )
      if (open.picked) {
        const check = element('input', 'quick-input-list-checkbox', undefined, { type: 'checkbox' })
        check.checked = open.picked.has(row.index)
        created.append(check)
      }
      created.append(element('span', 'label-name', withoutIcons(row.label)))
      if (row.description) created.append(element('span', 'label-description', withoutIcons(row.description)))
      if (row.detail) created.append(element('span', 'label-detail', withoutIcons(row.detail)))
      for (const [at, tooltip] of row.buttons.entries()) {
        const pressed = button(tooltip, event => {
          event.stopPropagation()
          tell({ type: 'itemButton', id: input.id, index: row.index, button: at })
        })
        created.append(pressed)
      }
      created.addEventListener('click', () => {
        open.marked = row.index
        if (open.picked) toggle(row.index)
        else accept()
      })
      return created
    }),
  )
}

function toggle(index) {
  if (!open.picked.delete(index)) open.picked.add(index)
  drawRows()
}

function accept() {
  const { id, field, input, marked, picked } = open
  if (input.rows && !picked && marked === undefined) return
  const chosen = picked ? [...picked] : marked === undefined ? [] : [marked]
  tell({ type: 'accept', id, value: field.value, picked: chosen })
  if (input.closesOnAccept) {
    accepted = id
    drawInput({})
  }
}

function onKey(event) {
  const choices = open.input.rows ? listedRows().filter(({ isSeparator }) => !isSeparator) : []
  const at = choices.findIndex(({ index }) => index === open.marked)
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (event.key === 'Enter' && !event.target.matches('button')) accept()
  else if (event.key === 'Escape') tell({ type: 'cancel', id: open.id, isBack: false })
  else if (event.key === ' ' && open.picked && open.field.value === '') toggle(open.marked)
  else if (step && choices.length > 0) {
    open.marked = choices[(at + step + choices.length) % choices.length].index
    drawRows()
  } else return
  event.preventDefault()
}

/** The open context menu, which closes on Escape and when its focus is lost. */
let menuOpen
function drawContextMenu({ menu }) {
  if (menuOpen?.id === menu?.id) return
  menuOpen?.box.remove()
  menuOpen = undefined
  const frame = frames.get(menu?.webview)?.frame
  if (!frame) return
  const close = index => {
    // at once, since the next Escape isn't for the menu
    view.remove()
    frame.focus()
    tell({ type: 'menu', id: menu.id, index })
  }
  const view = element('div', 'context-view')
  const box = element('div', 'monaco-menu', undefined, { role: 'menu', tabindex: '-1' })
  view.append(box)
  menuOpen = { id: menu.id, box: view }
  for (const [index, title] of menu.titles.entries()) {
    const item = element('div', 'action-item', title, { role: 'menuitem', tabindex: '-1' })
    item.addEventListener('mouseenter', () => item.focus())
    item.addEventListener('focus', () => item.classList.add('focused'))
    item.addEventListener('blur', () => item.classList.remove('focused'))
    item.addEventListener('click', () => close(index))
    item.addEventListener('keydown', ({ key }) => key === 'Enter' && close(index))
    box.append(item)
  }
  box.addEventListener('keydown', ({ key }) => key === 'Escape' && close())
  document.body.append(view)
  const { left, top } = frame.getBoundingClientRect()
  view.style.left = `${left + menu.x}px`
  view.style.top = `${Math.max(0, Math.min(top + menu.y, innerHeight - view.offsetHeight))}px`
  box.focus()
}

let last
function draw(shown) {
  last = shown
  document.body.dataset.drawn = 'true'
  byClass('sidebar').classList.toggle('open', shown.isSideBarOpen)
  byClass('action-item').classList.toggle('checked', shown.isSideBarOpen)
  byClass('action-item').dataset.badge = shown.badge
  drawTabs(shown)
  drawWebviews(shown)
  drawNotifications(shown)
  drawInput(shown)
  drawContextMenu(shown)
  const panel = byClass('panel')
  panel.hidden = !shown.output
  if (isChanged('output', shown.output))
    panel.replaceChildren(...(shown.output ?? []).slice(-200).map(line => element('div', 'view-line', line)))
  if (!isChanged('status', shown.status)) return
  byClass('statusbar').replaceChildren(
    ...shown.status.map(({ id, text, tooltip }) => {
      const names = { title: tooltip, 'aria-label': tooltip }
      const item = element('span', 'statusbar-item', withoutIcons(text), names)
      item.addEventListener('click', () => tell({ type: 'status', id }))
      return item
    }),
  )
}

addEventListener('keydown', ({ key, ctrlKey, metaKey, shiftKey, altKey }) => {
  if (!open && !['Control', 'Shift', 'Alt', 'Meta'].includes(key))
    tell({ type: 'key', key, ctrl: ctrlKey || metaKey, shift: shiftKey, alt: altKey })
})
byClass('action-item').addEventListener('click', () => tell({ type: 'openSideBar' }))
addEventListener('resize', () => last && drawWebviews(last))

/** The width of the side bar in pixels. */
globalThis.setSideBarWidth = width => {
  document.body.style.setProperty('--side-bar', `${width - 48}px`)
  if (last) drawWebviews(last)
}

// The playground: a menu of states and themes, and a page that follows the build.
const states = await (await fetch('states')).json()
if (states.length > 0) drawMenu()

function drawMenu() {
  const menu = element('select', 'playground-menu', undefined, { 'aria-label': 'State' })
  menu.append(...['State…', ...states.map(({ title }) => title)].map(title => element('option', '', title)))
  menu.addEventListener('change', () => show(states[menu.selectedIndex - 1]))
  const themes = element('select', 'playground-menu', undefined, { 'aria-label': 'Theme' })
  themes.append(...Object.keys(looks).map(kind => element('option', '', kind)))
  themes.addEventListener('change', () => wear(themes.value))
  byClass('statusbar').before(menu, themes)
}

/** Starts a session and says the state's prompt in it. */
async function show({ agentId, prompt }) {
  const page = () => [...frames].find(([id]) => id.startsWith('sideBar'))?.[1].frame.contentDocument
  const keyOf = () => page()?.querySelector('.conversation')?.dataset.vscodeContext
  const before = keyOf()
  tell({ type: 'startSession', agentId })
  for (let tries = 0; tries < 100 && (keyOf() === before || page().body.dataset.phase !== 'ready'); tries++)
    await new Promise(resolve => setTimeout(resolve, 50))
  const composer = page()?.querySelector('.composer [role="textbox"]')
  if (!composer || !prompt) return
  composer.focus()
  page().execCommand('insertText', false, prompt)
  composer.dispatchEvent(
    new KeyboardEvent('keydown', { key: 'Enter', keyCode: 13, bubbles: true, cancelable: true }),
  )
}

let isConnected = false
const source = new EventSource('events')
source.addEventListener('open', () => {
  // another host: it was built again
  if (isConnected) location.reload()
  isConnected = true
})
source.addEventListener('message', ({ data }) => {
  const event = JSON.parse(data)
  if (event.type === 'window') draw(event.window)
  else frames.get(event.webview)?.frame.contentWindow?.postMessage(event.message, '*')
})
