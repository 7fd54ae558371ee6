import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { t } from '../../l10n.ts'
import { Icon } from '../../ui/icon.tsx'
import { useApp } from '../context.ts'
import { quoteSelection, selectedText } from './selection-actions.ts'

/** Space between the selection and the button, in pixels. */
const GAP = 6

/** A button next to the selection in the conversation. It never takes the focus. */
export function QuoteButton() {
  const app = useApp()
  const position = useSignal<{ left: number; top: number } | undefined>(undefined)

  useLayoutEffect(() => {
    const hide = () => {
      position.value = undefined
    }
    // the button appears after the selection was made, not while the user is still selecting
    const show = () => {
      position.value = selectedText() === '' ? undefined : besideSelection()
    }
    const changed = () => {
      if (getSelection()?.isCollapsed) hide()
    }
    const key = (event: KeyboardEvent) => {
      if (event.shiftKey || event.key === 'Shift') show()
    }
    window.addEventListener('pointerup', show)
    window.addEventListener('keyup', key)
    document.addEventListener('selectionchange', changed)
    document.addEventListener('scroll', hide, true)
    return () => {
      window.removeEventListener('pointerup', show)
      window.removeEventListener('keyup', key)
      document.removeEventListener('selectionchange', changed)
      document.removeEventListener('scroll', hide, true)
    }
  }, [position])

  if (!position.value) return null
  return (
    <button
      type="button"
      class="selection-quote"
      style={{ left: `${position.value.left}px`, top: `${position.value.top}px` }}
      onPointerDown={event => event.preventDefault()}
      onClick={() => quoteSelection(app)}
    >
      <Icon name="quote" /> {t('Quote')}
    </button>
  )
}

/** Returns the place below the end of the selection, or above it if there is no space below. */
function besideSelection(): { left: number; top: number } | undefined {
  const range = getSelection()?.getRangeAt(0)
  const list = document.querySelector('.transcript')?.getBoundingClientRect()
  // a selection may extend to the start of the next line
  const end = [...(range?.getClientRects() ?? [])].findLast(rect => rect.width > 1)
  if (!end || !list) return undefined
  const height = 26
  const width = 90
  const below = end.bottom + GAP
  const top = below + height <= list.bottom ? below : Math.max(list.top, end.top - GAP - height)
  return {
    left: Math.max(list.left + GAP, Math.min(end.right - width / 2, list.right - width - GAP)),
    top,
  }
}
