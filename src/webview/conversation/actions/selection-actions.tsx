import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { t } from '../../l10n.ts'
import { Icon } from '../../ui/icon.tsx'
import { useApp } from '../context.ts'
import { quoteSelection, selectedText } from './quote.ts'

/** Space between the selection and the button, in pixels. */
const space = 6

/** A button near what a person has selected in the conversation. It never takes the focus. */
export function SelectionActions() {
  const app = useApp()
  const place = useSignal<{ left: number; top: number } | undefined>(undefined)

  useLayoutEffect(() => {
    const hide = () => {
      place.value = undefined
    }
    // when the selection is made, not while it is being made
    const show = () => {
      place.value = selectedText() === '' ? undefined : besideSelection()
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
  }, [place])

  if (!place.value) return null
  return (
    <button
      type="button"
      class="selection-quote"
      style={{ left: `${place.value.left}px`, top: `${place.value.top}px` }}
      onPointerDown={event => event.preventDefault()}
      onClick={() => quoteSelection(app)}
    >
      <Icon name="quote" /> {t('Quote')}
    </button>
  )
}

/** Under the end of the selection, or over it where there is no room. */
function besideSelection(): { left: number; top: number } | undefined {
  const range = getSelection()?.getRangeAt(0)
  const list = document.querySelector('.transcript')?.getBoundingClientRect()
  // a selection may reach to the very beginning of the next line
  const end = [...(range?.getClientRects() ?? [])].findLast(rect => rect.width > 1)
  if (!end || !list) return undefined
  const height = 26
  const width = 90
  const below = end.bottom + space
  const top = below + height <= list.bottom ? below : Math.max(list.top, end.top - space - height)
  return {
    left: Math.max(list.left + space, Math.min(end.right - width / 2, list.right - width - space)),
    top,
  }
}
