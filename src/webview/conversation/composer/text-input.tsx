import type { Ref } from 'preact'
import { useImperativeHandle, useRef } from 'preact/hooks'

/** What the composer needs of whatever one types into. */
export interface TextInputHandle {
  focus(): void
  /** Replaces everything; the caret goes to the end. */
  setText(text: string): void
  /** Types at the caret. */
  insert(text: string): void
  readonly caret: { start: number; end: number }
}

interface TextInputProps {
  value: string
  placeholder: string
  label: string
  disabled: boolean
  /** id of the chosen row of an open completion list */
  activeDescendant: string | undefined
  onInput: (text: string, caret: number) => void
  onCaret: (caret: number) => void
  /** Return true when the key was used. Not called for keys of an input method. */
  onKey: (event: KeyboardEvent) => boolean
  handle: Ref<TextInputHandle>
}

/** A text field that grows with its text, up to what its container allows. */
export function TextInput(props: TextInputProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  useImperativeHandle(
    props.handle,
    () => ({
      focus: () => area.current?.focus(),
      setText(text) {
        const element = area.current
        if (!element) return
        element.value = text
        element.setSelectionRange(text.length, text.length)
        element.scrollTop = element.scrollHeight
        props.onInput(text, text.length)
      },
      insert(text) {
        const element = area.current
        if (!element) return
        element.setRangeText(text, element.selectionStart, element.selectionEnd, 'end')
        props.onInput(element.value, element.selectionEnd)
      },
      get caret() {
        return { start: area.current?.selectionStart ?? 0, end: area.current?.selectionEnd ?? 0 }
      },
    }),
    [props.onInput],
  )
  const tellCaret = () => props.onCaret(area.current?.selectionEnd ?? 0)
  return (
    <textarea
      ref={area}
      class="composer-text"
      rows={1}
      dir="auto"
      value={props.value}
      placeholder={props.placeholder}
      aria-label={props.label}
      aria-autocomplete="list"
      aria-activedescendant={props.activeDescendant}
      disabled={props.disabled}
      onInput={event => props.onInput(event.currentTarget.value, event.currentTarget.selectionEnd)}
      onKeyUp={tellCaret}
      onClick={tellCaret}
      onKeyDown={event => {
        // 229: a key that an input method has taken, in browsers that do not set isComposing for the last one
        if (event.isComposing || event.keyCode === 229) return
        if (props.onKey(event)) event.preventDefault()
      }}
    />
  )
}
