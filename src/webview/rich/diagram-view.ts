import { t } from '../l10n.ts'
import { sourceOf } from '../markdown/rich-source.ts'
import type { DiagramImage } from './diagram.ts'

/** The parts of a diagram's element besides its source, which is the code block that markdown put there. */
export interface DiagramFrame {
  figure: HTMLElement
  note: HTMLElement
}

/** Makes room for the picture above the source, and for a word when there is none. */
export function diagramFrame(element: HTMLElement): DiagramFrame {
  let figure = element.querySelector<HTMLElement>(':scope > .diagram-figure')
  let note = element.querySelector<HTMLElement>(':scope > .diagram-note')
  if (!figure || !note) {
    figure = document.createElement('div')
    figure.className = 'diagram-figure'
    figure.hidden = true
    note = document.createElement('div')
    note.className = 'diagram-note quiet'
    note.hidden = true
    element.prepend(figure, note)
  }
  return { figure, note }
}

export function showDiagram(element: HTMLElement, { figure, note }: DiagramFrame, image: DiagramImage): void {
  const picture = figure.querySelector('img') ?? document.createElement('img')
  picture.src = image.src
  picture.width = Math.ceil(image.width)
  picture.height = Math.ceil(image.height)
  picture.alt = diagramName(sourceOf(element))
  if (!picture.isConnected) figure.append(picture, toolbar())
  figure.hidden = false
  note.hidden = true
  element.dataset.state = 'drawn'
}

/** The page stands still while a diagram is drawn: a large one is drawn when the person wants it. */
export function askToDraw(element: HTMLElement, { note }: DiagramFrame): void {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'link-button'
  button.dataset.action = 'draw-diagram'
  button.textContent = t('Render Anyway')
  note.replaceChildren(t('Large diagram. Rendering may take several seconds.'), ' ', button)
  note.hidden = false
  element.dataset.state = 'asked'
}

export function showDrawing({ note }: DiagramFrame): void {
  note.textContent = t('Rendering…')
  note.hidden = false
}

export function showFailure(element: HTMLElement, { figure, note }: DiagramFrame, text: string): void {
  figure.hidden = true
  note.hidden = false
  note.textContent = text
  element.dataset.state = 'failed'
}

function toolbar(): HTMLElement {
  const bar = document.createElement('div')
  bar.className = 'code-bar'
  for (const [action, icon, label] of [
    ['diagram-source', 'code', t('Show Source')],
    ['copy-diagram', 'copy', t('Copy Source')],
    ['enlarge', 'screen-full', t('Enlarge')],
  ] as const) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'icon-button'
    button.dataset.action = action
    button.title = label
    button.setAttribute('aria-label', label)
    const glyph = document.createElement('span')
    glyph.className = `codicon codicon-${icon}`
    glyph.setAttribute('aria-hidden', 'true')
    button.append(glyph)
    bar.append(button)
  }
  return bar
}

/** `Diagram (sequenceDiagram)`, and its title when it has one. */
function diagramName(source: string): string {
  const title = /^\s*(?:accTitle\s*:|title:?)\s*(.+)$/m.exec(source)?.[1]?.trim()
  if (title) return t('Diagram: {0}', title.slice(0, 120))
  const kind = /^\s*(?!%%|---)([A-Za-z][\w-]*)/m.exec(source)?.[1]
  return kind ? t('Diagram ({0})', kind) : t('Diagram')
}
