import './base.css';
import './steps.css';
import './detail.css';
import './log.css';
import './dialog.css';
import './compare.css';
import './review.css';
import './cells.css';
