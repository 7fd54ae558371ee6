/** What is offered above the composer has no more height than there is, and its chosen row is in sight. */
export function fitList(list: HTMLElement | null): void {
  if (!list) return
  const room = list.offsetParent?.getBoundingClientRect().top
  if (room !== undefined) list.style.setProperty('--room', `${Math.floor(room)}px`)
  list.querySelector('[data-active]')?.scrollIntoView({ block: 'nearest' })
}
