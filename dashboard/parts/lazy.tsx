import { type ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Refusal } from './panel.js';

/**
 * Returns a component whose code is loaded when it is first shown, so that no other page loads it.
 * @param load imports the component's file, which the browser requests only once
 */
export function lazily<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function Lazily(props: Props) {
    const [Found, setFound] = useState<ComponentType<Props> | undefined>(() => loaded);
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      if (loaded !== undefined) return;
      load().then(
        (component) => {
          loaded = component;
          setFound(() => component);
        },
        () => setFailed(true),
      );
    }, []);
    if (Found !== undefined) return <Found {...props} />;
    return failed ? <Refusal text="this part of the page could not be loaded: reload the page" /> : null;
  };
}
