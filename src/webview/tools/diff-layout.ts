import { computed, signal } from '@preact/signals'

/** How the user wants diffs, where there is room for both sides: kept in the settings by the host. */
export const wantsSideBySide = signal(true)

/** Narrower views show one side under the other. CSS pixels. */
const wideEnough = 720

const viewWidth = signal(typeof window === 'undefined' ? 0 : window.innerWidth)
if (typeof window !== 'undefined')
  window.addEventListener('resize', () => {
    viewWidth.value = window.innerWidth
  })

/** There is room for one column of line numbers only. */
export const isNarrow = computed(() => viewWidth.value < 340)

/** There is room for two sides. */
export const canBeSideBySide = computed(() => viewWidth.value >= wideEnough)
export const isSideBySide = computed(() => canBeSideBySide.value && wantsSideBySide.value)
