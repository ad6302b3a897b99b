import { lazy } from 'react'
import { Route } from 'wouter'

const galleryRoute = () => {
  const Gallery = lazy(async () => ({ default: (await import('./gallery.tsx')).Gallery }))
  return () => (
    <Route path="/dev/gallery">
      <Gallery />
    </Route>
  )
}

/** Every building block on one page, for those who work on them; a build leaves it out. */
export const devRoutes = import.meta.env.DEV ? galleryRoute() : () => null
