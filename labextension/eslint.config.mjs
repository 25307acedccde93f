import js from '@eslint/js';
import hooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['lib', 'node_modules', '.yarn', '*.config.m*'] },
  js.configs.recommended,
  ...tseslint.configs.strict,
  hooks.configs['recommended-latest'],
  {
    rules: {
      eqeqeq: 'error',
      'no-restricted-properties': [
        'error',
        ...['innerHTML', 'outerHTML', 'insertAdjacentHTML'].map(property => ({
          property,
          message: 'What people and programs wrote is text.'
        }))
      ],
      '@typescript-eslint/no-namespace': 'off', // JupyterLab's way of naming commands
      'no-restricted-syntax': [
        'error',
        {
          selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]',
          message: 'What people and programs wrote is text.'
        }
      ],
      '@typescript-eslint/explicit-module-boundary-types': 'error'
    }
  },
  { files: ['style/*.js'], languageOptions: { sourceType: 'module' } },
  {
    files: ['test/**'],
    rules: {
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/no-extraneous-class': 'off'
    }
  }
);
