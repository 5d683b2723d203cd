import { useEffect, useState } from 'preact/hooks';
import { type Route, routeOf } from './route.js';

export function useRoute(): { readonly route: Route; readonly hash: string } {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const onChange = (): void => setHash(location.hash);
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return { route: routeOf(hash), hash };
}
