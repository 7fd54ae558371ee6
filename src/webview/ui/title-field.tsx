import { useLayoutEffect, useRef } from 'preact/hooks'

interface TitleFieldProps {
  /** what it is called now */
  title: string
  label: string
  placeholder?: string
  class?: string
  /** Enter, or the focus goes elsewhere, with another title than before. */
  onRename: (title: string) => void
  /** The field is to go away; after `onRename`, or without it on Escape. `byKey`: the focus is to go where it was. */
  onClose: (byKey: boolean) => void
}

/** A title in the place of which the user writes another one: as in VS Code's trees, Enter takes it, Escape does not. */
export function TitleField({
  title,
  label,
  placeholder,
  class: className,
  onRename,
  onClose,
}: TitleFieldProps) {
  const field = useRef<HTMLInputElement>(null)
  const closed = useRef(false)
  useLayoutEffect(() => {
    field.current?.focus({ preventScroll: true })
    field.current?.select()
  }, [])

  const close = (taken: boolean, byKey: boolean) => {
    if (closed.current) return
    closed.current = true
    const written = field.current?.value.trim() ?? title
    if (taken && written !== title.trim()) onRename(written)
    onClose(byKey)
  }
  return (
    <input
      ref={field}
      type="text"
      class={`title-field${className ? ` ${className}` : ''}`}
      aria-label={label}
      placeholder={placeholder}
      maxLength={500}
      spellcheck={false}
      dir="auto"
      defaultValue={title}
      onClick={event => event.stopPropagation()}
      onPointerDown={event => event.stopPropagation()}
      onBlur={() => close(true, false)}
      onKeyDown={event => {
        // keys typed here are for this field alone
        event.stopPropagation()
        if (event.isComposing) return
        if (event.key !== 'Enter' && event.key !== 'Escape') return
        event.preventDefault()
        close(event.key === 'Enter', true)
      }}
    />
  )
}
