/** The codicon of an agent without an icon of its own. */
export const AGENT_ICON = 'sparkle'

/** Whether an icon is the name of a codicon, and no image. */
export function isCodicon(icon: string): boolean {
  return /^[a-z0-9-]+$/.test(icon)
}
