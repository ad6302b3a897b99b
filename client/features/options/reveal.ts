const longestWaitMs = 3000

/** Marks one option, once its tab has been drawn, and puts it in the middle of the window with the focus in its field. */
export function revealOption(key: string): void {
  const begun = performance.now()
  const look = () => {
    const place = document.getElementById(`option-${key}`)
    if (!place) {
      if (performance.now() - begun < longestWaitMs) requestAnimationFrame(look)
      return
    }
    for (const marked of document.querySelectorAll('[data-found]')) delete (marked as HTMLElement).dataset['found']
    place.dataset['found'] = ''
    place.scrollIntoView({ block: 'center' })
    place.querySelector<HTMLElement>('input, textarea, select, button')?.focus({ preventScroll: true })
  }
  requestAnimationFrame(look)
}
